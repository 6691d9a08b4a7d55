"""Texts that are easily changed on their way from a corpus to a vector, and what is wanted of each."""

from dataclasses import dataclass
from typing import Final

MAN, WOMAN = "\N{MAN}", "\N{WOMAN}"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@dataclass(frozen=True)
class HardText:
    """A text, and another one with which it must agree in everything.

    Attributes:
        name: what is hard about the text.
        text: the text as a file has it.
        like: a plain text with the same vector, or None if the text is plain itself.
        words: how many words the text counts as: words in scripts with spaces, characters in those without.
        language: code of its language, if a language identifier should be able to tell.
        form: whether only sentencepiece makes the two alike, so that earlier steps see two texts.
    """

    name: str
    text: str
    like: str | None
    words: int
    language: str | None = None
    form: bool = False

    @property
    def plain(self) -> str:
        """The plain text with the same vector."""
        return self.text if self.like is None else self.like


RUNS: Final = "the old dog runs home"
TEXTS: Final = [
    # White space and control characters.
    HardText("two spaces", "the old  dog runs   home", RUNS, 5, "en"),
    HardText("no-break space", "the old\xa0dog runs home", RUNS, 5, "en"),
    HardText("ideographic space", "the old\u3000dog runs home", RUNS, 5, "en"),
    HardText("thin space", "the old\u2009dog runs home", RUNS, 5, "en"),
    HardText("line separator", "the old\u2028dog runs home", RUNS, 5, "en"),
    HardText("vertical tab", "the old\x0bdog runs home", RUNS, 5, "en"),
    HardText("form feed", "the old\x0cdog runs home", RUNS, 5, "en"),
    HardText("carriage return", "the old\rdog runs home", RUNS, 5, "en"),
    HardText("next line", "the old\x85dog runs home", RUNS, 5, "en"),
    HardText("unit separator", "the old\x1fdog runs home", RUNS, 5, "en"),
    HardText("escape", "the old\x1bdog runs home", RUNS, 5, "en"),
    HardText("delete", "the old\x7fdog runs home", RUNS, 5, "en"),
    HardText("zero-width space", "the old\u200bdog runs home", RUNS, 5, "en"),
    HardText("spaces at both ends", "  the old dog runs home ", RUNS, 5, "en"),
    # Characters that nobody sees.
    HardText("soft hyphen", "the old d\xadog runs home", RUNS, 5, "en"),
    HardText("word joiner", "the old d\u2060og runs home", RUNS, 5, "en"),
    HardText("zero-width non-joiner", "the old d\u200cog runs home", RUNS, 5, "en"),
    HardText("zero-width joiner", "the old d\u200dog runs home", RUNS, 5, "en"),
    HardText("left-to-right mark", "the old \u200edog runs home", RUNS, 5, "en"),
    HardText("right-to-left mark", "the old dog\u200f runs home", RUNS, 5, "en"),
    HardText("embedding", "the \u202aold dog\u202c runs home", RUNS, 5, "en"),
    HardText("override", "the \u202dold dog\u202c runs home", RUNS, 5, "en"),
    HardText("isolate", "the \u2066old dog\u2069 runs home", RUNS, 5, "en"),
    HardText("byte order mark inside", "the old \ufeffdog runs home", RUNS, 5, "en"),
    HardText("grapheme joiner", "the old d\u034fog runs home", RUNS, 5, "en"),
    HardText("Arabic letter mark", "the old\u061c dog runs home", RUNS, 5, "en"),
    HardText("Mongolian variation selector", "the old dog\u180b runs home", RUNS, 5, "en"),
    HardText("invisible plus", "the old d\u2064og runs home", RUNS, 5, "en"),
    HardText("annotation anchor", "the old \ufff9dog runs home", RUNS, 5, "en"),
    HardText("Hangul filler", "the old dog\u3164 runs home", RUNS, 5, "en"),
    HardText("language tag", "the old dog\U000e0001\U000e0065 runs home", RUNS, 5, "en"),
    HardText("variation selector", "good morning ❤\ufe0f", "good morning ❤", 3),
    HardText("ideographic variation", "葛\U000e0100城市", "葛城市", 3),
    HardText("Persian half-space", "من می\u200cخواهم بروم", "من میخواهم بروم", 3, "fa"),
    HardText("emoji tags", f"a flag {ENGLAND}", "a flag \U0001f3f4", 3),
    HardText("emoji family", f"a family {MAN}\u200d{WOMAN}", f"a family {MAN}{WOMAN}", 3),
    HardText("keycap", "press 5\ufe0f\u20e3 now", "press 5\u20e3 now", 3),
    HardText("skin tone", "good morning 👍🏽", None, 3),
    # Capitals.
    HardText("capitals", "THE OLD DOG RUNS HOME", RUNS, 5, "en"),
    HardText("German capitals", "WIR MÜSSEN DAS GESCHÄFT HEUTE SCHLIESSEN",
             "wir müssen das geschäft heute schliessen", 6, "de"),
    HardText("capital sharp s", "DIE STRAẞE IST HEUTE GESPERRT", "die straße ist heute gesperrt", 5, "de"),
    HardText("Cyrillic capitals", "ДОБРЫЙ ДЕНЬ, КОЛЛЕГИ, КАК ДЕЛА", 
             "добрый день, коллеги, как дела", 5, "ru"),
    HardText("final sigma", "Ο ΔΡΟΜΟΣ ΕΙΝΑΙ ΚΑΛΟΣ", "ο δρομος ειναι καλος", 4, "el"),
    HardText("sigma before a mark", "Ο ΚΑΦΕΣ. ΤΕΛΟΣ!", "ο καφες. τελος!", 3, "el"),
    HardText("dotted i", "İSTANBUL ÇOK GÜZEL BİR ŞEHİR", "istanbul çok güzel bir şehir", 5, "tr"),
    HardText("dotted i as two characters", "I\u0307stanbul çok güzel bir şehir", 
             "istanbul çok güzel bir şehir", 5, "tr"),
    HardText("dotless i", "kırmızı ışık yandı", None, 3, "tr"),
    HardText("Georgian capitals", "ᲗᲑᲘᲚᲘᲡᲘ ᲚᲐᲛᲐᲖᲘᲐ", "თბილისი ლამაზია", 2, "ka"),
    # Letters that can be written in several ways.
    HardText("letter and mark", "un cafe\u0301 noir", "un café noir", 3, "fr"),
    HardText("full-width digits", "１２３ dogs run", "123 dogs run", 3, form=True),
    HardText("full-width letters", "ｔｈｅ old dog", "the old dog", 3, form=True),
    HardText("ligature", "she ﬁnds home", "she finds home", 3, form=True),
    HardText("half-width kana", "ｱﾒﾘｶ へ 行く", "アメリカ へ 行く", 7, form=True),
    HardText("Arabic vowel marks", "ٱلۡحَمۡدُ لِلَّهِ رَبِّ ٱلۡعَٰلَمِينَ", "الحمد لله رب العلمين", 4, "ar"),
    HardText("tatweel", "كتـــاب جديد في البيت", "كتاب جديد في البيت", 4, "ar"),
    HardText("Russian ё", "всё ещё темно", "все еще темно", 3, "ru"),
    HardText("Hebrew", "הספרייה נסגרת היום בשש", None, 4, "he"),
    HardText("Hindi", "वह कल तीन सेब लाई", None, 5, "hi"),
    HardText("Amharic", "ቤተ መጻሕፍቱ ዛሬ ይዘጋል", None, 4, "am"),
    HardText("Ethiopic word space", "ሰላም፡ለዓለም፡ሁሉ", None, 3, "am"),
    HardText("Korean", "도서관은 오늘 여섯 시에 닫습니다", None, 5, "ko"),
    # Scripts without spaces.
    HardText("Japanese", "図書館は今日六時に閉まります", None, 14, "ja"),
    HardText("Chinese", "图书馆今天六点关门", None, 9, "zh"),
    HardText("Chinese and Latin", "我用Windows电脑", None, 5, "zh"),
    HardText("Thai", "ห้องสมุดปิดวันนี้", None, 11, "th"),
    HardText("Lao", "ຫ້ອງສະໝຸດປິດມື້ນີ້", None, 11, "lo"),
    HardText("Khmer", "បណ្ណាល័យបិទថ្ងៃនេះ", None, 10, "km"),
    HardText("Burmese", "စာကြည့်တိုက်ပိတ်သည်", None, 9, "my"),
    HardText("zero-width spaces in Khmer", "បណ្ណាល័យ\u200bបិទ\u200bថ្ងៃនេះ", "បណ្ណាល័យ បិទ ថ្ងៃនេះ", 10, "km"),
    # Digits and letters that must not vanish.
    HardText("five", "5 people died", None, 3, "en"),
    HardText("nine", "9 people died", None, 3, "en"),
    HardText("names of pieces", "<s> </s> <unk> <0x41>", None, 4),
]  # fmt: skip
# Texts of nothing that a reader sees.
NOTHING: Final = ["", "   ", "\xad", "\u200b\u2060", "\ufeff", "\x0b\x85", "\u3164", "\U000e0001"]
