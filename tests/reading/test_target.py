"""The gender that a translation shows for each person of its source, through `gendermark.read_people`."""

from __future__ import annotations

import pytest

import gendermark
from gendermark.errors import UserError

# Language, source, translation; then for each person that is asked about its text, what is shown, and the evidence.
EXAMPLES = """
es | The doctor spoke to the nurse. | La médica habló con el enfermero. | doctor f médica | nurse m enfermero
es | Our neighbors opened a new university. | Nuestros vecinos abrieron una nueva universidad. | neighbors m vecinos
es | The pilot was tired. | La piloto estaba cansada. | pilot f La
es | The victim was found. | La víctima fue encontrada. | victim -
de | The teacher and the pupil laughed. | Die Lehrerin und der Schüler lachten. | teacher f Lehrerin | pupil m Schüler
de | My friends helped the customers. | Meine Freunde halfen den Kundinnen. | friends m Freunde | customers f Kundinnen
de | The members voted. | Die Mitglieder stimmten ab. | members -
fr | The singer thanked her neighbor. | La chanteuse a remercié son voisin. | singer f chanteuse | neighbor m voisin
fr | The journalists were attacked. | Les journalistes ont été attaquées. | journalists f attaquées
it | The director met the researchers. | La direttrice ha incontrato i ricercatori. | director f direttrice
pt | The lawyer called the engineer. | A advogada ligou para o engenheiro. | lawyer f advogada | engineer m engenheiro
ru | The teacher called the student. | Учительница позвонила студенту. | teacher f Учительница | student m студенту
es | Are you sure you want to leave? | ¿Está seguro de que quiere salir? | you m seguro
es | Are you sure you want to leave? | ¿Seguro que quieres salir? | you -
es | Are you ready? | ¿Estás lista? | you f lista
fr | You are not logged in. | Vous n'êtes pas connecté. | You m connecté
it | Are you sure? | Sei sicuro? | you m sicuro
pt | You were invited. | Você foi convidada. | You f convidada
de | You are ready. | Sie sind bereit. | You -
ru | The doctor said nothing. | Врач ничего не сказала. | doctor f сказала
it | User '%(name)s' deleted. | Utente '%(name)s' eliminato. | User m eliminato
it | User aborted the import | Importazione annullata dall'utente | User -
es | You are a visitor. | Eres una visitante. | visitor f una
de | You are the founder. | Sie sind die Gründerin. | founder f Gründerin
es | Welcome! | ¡Bienvenido/a! | Welcome -
it | Welcome to Vela! | Benvenute in Vela! | Welcome f Benvenute
fr | The new user could not be saved. | Nouvel utilisateur·rice : impossible d'enregistrer. | user -
de | Show this contact | Diesen Kontakt anzeigen | contact -
ru | Users can sign in. | Пользователи могут войти. | Users -
ru | The user has left. | Пользователь вышел. | user m вышел
it | She became chair in June. | Nel giugno 2016 è diventata presidente. | She f diventata
it | We found an error. | Abbiamo trovato un errore. | We -
"""


@pytest.mark.parametrize("example", EXAMPLES.strip().split("\n"))
def test_people_in_a_translation(example: str) -> None:
    language, source, translation, *asked = example.split(" | ")
    people = {person.text: person for person in gendermark.read_people(source, translation, to=language)}
    for one in asked:
        text, gender, *words = one.split()
        person = people[text]
        assert person.target_gender == {"m": "masculine", "f": "feminine", "-": None}[gender]
        assert person.target_state == ("not_shown" if gender == "-" else "shown")
        shown = [translation[start:end] for start, end in person.evidence]
        assert all(any(word in span for span in shown) for word in words)


def test_what_contradicts_is_mixed() -> None:
    (person,) = gendermark.read_people("She is a director.", "Ella es un director.", to="es")
    assert (person.source_gender, person.target_gender) == ("feminine", "mixed")


def test_other_languages_are_refused() -> None:
    with pytest.raises(UserError, match="'ja'"):
        gendermark.read_people("A doctor.", "医者です。", to="ja")
