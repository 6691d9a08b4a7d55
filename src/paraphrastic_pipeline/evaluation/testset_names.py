"""Names of the test sets in their archives and in the tables."""

from typing import NamedTuple

# The datasets of each year, under their names in SentEval's archive.
DATASETS = {
    "2012": ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"),
    "2013": ("FNWN", "headlines", "OnWN", "SMT"),
    "2014": ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
    "2015": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "2016": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
}
YEARS = tuple(DATASETS)
STS_DATASETS = sum(map(len, DATASETS.values()))
# The sentences of 2013's SMT need a licence, and most archives come without them.
LICENSED = ("2013", "SMT")
# Sentences of the training data that are candidates beside held-out ones, for each pair of languages.
DISTRACTORS = 10_000


class Track(NamedTuple):
    """A track of STS 2017: the name of its file, and the languages of the two sentences in it."""

    file: str
    languages: tuple[str, str]


# Track 4b is about the quality of translations; the papers leave it out.
TRACKS = {
    "ar-ar": Track("track1.ar-ar", ("ar", "ar")),
    "ar-en": Track("track2.ar-en", ("en", "ar")),
    "es-es": Track("track3.es-es", ("es", "es")),
    "es-en": Track("track4a.es-en", ("es", "en")),
    "en-en": Track("track5.en-en", ("en", "en")),
    "tr-en": Track("track6.tr-en", ("en", "tr")),
}

# In the prepared test sets, STS Benchmark is one more year; genres are named as in its files.
BENCHMARK = "stsb"
BENCHMARK_PARTS = ("train", "dev", "test")
CAPTION_GENRE = "main-captions"

# The track on which models are chosen.
DEVELOPMENT = "en-en"
