"""The first person in Arabic."""

from __future__ import annotations

from gendermark.languages.speaking import Being, Endings, phrases, words

SPEAKER = Being(
    verbs=phrases("أنا,كنت,لست,أكون,سأكون,أصبحت,صرت,أنني,إنني,لأنني,لكنني,زلت,أبدو,أني,إني,لأني,لكني,بقيت"),
    adjective=Endings(
        r"^م\w{3,}",
        r"^م\w{2,}ة",
        *(
            frozenset(
                f"{stem}{ending}"
                for stem in words(
                    "سعيد حزين قوي ضعيف واثق قادر خائف غاضب فخور وحيد صغير كبير مريض جائع جميل ذكي غني فقير "
                    "شجاع هادئ صادق "
                    "نشيط لطيف حساس حريص ناجح قلق خجول عنيد عصبي أنيق رقيق طيب صبور طموح عاطفي عقلاني جاهز راض عاجز حر "
                    "نادم شاكر ممتن جاد كسول نحيف سمين طويل قصير أناني كريم بارع عاقل"
                )
                for ending in endings
            )
            for endings in (("", "ا"), ("ة",))
        ),
    ),
    between=words("لست جدا دائما غير لا أبدا حقا كنت أكون ما زلت أيضا فقط قليلا أكثر"),
    stop=words(
        "مجرد مديرا مدير مديرة معلم معلمة مدرس مدرسة مهندس مهندسة ممرض ممرضة محام محامية ممثل ممثلة موظف موظفة مغنية"
    )
    | words("مترجم مترجمة مدرب مدربة مصمم مصممة مبرمج مبرمجة مدينة مرات معهم معها معكم منهم منها مثلك مثلهم"),
    prefixes="و ف ول فأ",
)
EXAMPLES = ("أنا متعب.", "أنا متعبة.", "أنا هنا.")
"""Masculine, feminine, and without gender."""
