"""`gendermark study` and `gendermark train`: commands and their functions in lab/."""

from gendermark.cli.options import Commands

UNCERTAINTY = Commands(
    "Analyse semantic uncertainty as Staliūnaitė et al. (2026) do: cues, correlations, quality, samples.",
    {
        "Commands": {
            "correlate": "lab.correlate:correlate",
            "cues": "lab.cues:cues",
            "quality": "lab.quality:quality",
            "samples": "lab.samples:samples",
            "determiners": "lab.samples:determiners",
            "sampling": "lab.samples:sampling",
        }
    },
)
STUDY = Commands(
    "Run a controlled experiment or analysis: speed, training, mitigation, debiasing, uncertainty.",
    {
        "Speed and training": {"speed": "lab.speed:speed", "training": "lab.training_comparison:training"},
        "Mitigation": {
            "mitigate": "lab.mitigate:mitigate",
            "debias": "lab.debias:debias",
            "reader": "lab.mitigate:reader",
        },
        "Uncertainty": {"uncertainty": UNCERTAINTY},
    },
)
TRAIN = Commands(
    "Train a transformer of any size, or retrain the bundled demo model.",
    {"Commands": {"model": "lab.train_model:model", "demo-model": "lab.train_demo:demo_model"}},
)
RENAMED = {f"study {name}": f"gendermark study uncertainty {name}" for name in UNCERTAINTY.panels["Commands"]}
