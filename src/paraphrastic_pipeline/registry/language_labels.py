"""Which labels of a language identifier stand for a language: its own code, with a few exceptions."""

from collections.abc import Collection

# The labels of fastText's lid.176.
_LID176 = """
af als am an ar arz as ast av az azb ba bar bcl be bg bh bn bo bpy br bs bxr ca cbk ce ceb ckb co cs cv cy
da de diq dsb dty dv el eml en eo es et eu fa fi fr frr fy ga gd gl gn gom gu gv he hi hif hr hsb ht hu hy
ia id ie ilo io is it ja jbo jv ka kk km kn ko krc ku kv kw ky la lb lez li lmo lo lrc lt lv mai mg mhr
min mk ml mn mr mrj ms mt mwl my myv mzn nah nap nds ne new nl nn no oc or os pa pam pfl pl pms pnb ps pt
qu rm ro ru rue sa sah sc scn sco sd sh si sk sl so sq sr su sv sw ta te tg th tk tl tr tt tyv ug uk ur uz
vec vep vi vls vo wa war wuu xal xmf yi yo yue zh
"""
# Codes of three letters for languages that have one of two.
_SHORT = """
afr-af alb-sq amh-am ara-ar arm-hy asm-as aze-az azj-az baq-eu bel-be ben-bn bos-bs bre-br bul-bg bur-my
cat-ca ces-cs chi-zh cmn-zh cym-cy cze-cs dan-da deu-de dut-nl ekk-et ell-el eng-en epo-eo est-et eus-eu
fas-fa fil-tl fin-fi fra-fr fre-fr fry-fy geo-ka ger-de gla-gd gle-ga glg-gl gre-el guj-gu hat-ht heb-he
hin-hi hrv-hr hun-hu hye-hy ice-is ido-io ile-ie ina-ia ind-id isl-is ita-it jav-jv jpn-ja kan-kn kat-ka
kaz-kk khk-mn khm-km kir-ky kmr-ku kor-ko kur-ku lao-lo lat-la lav-lv lit-lt ltz-lb lvs-lv mac-mk mal-ml
mar-mr may-ms mkd-mk mlg-mg mlt-mt mon-mn msa-ms mya-my nep-ne nld-nl nno-nn nor-no npi-ne oci-oc ori-or
ory-or pan-pa pbt-ps per-fa pes-fa pol-pl por-pt prs-fa pus-ps que-qu ron-ro rum-ro rus-ru san-sa sin-si
slk-sk slo-sk slv-sl snd-sd som-so spa-es sqi-sq srp-sr sun-su swa-sw swe-sv swh-sw tam-ta tat-tt tel-te
tgk-tg tgl-tl tha-th tuk-tk tur-tr uig-ug ukr-uk urd-ur uzb-uz uzn-uz vie-vi vol-vo wel-cy yid-yi yor-yo
zho-zh zsm-ms
"""
# Languages that are close to others, retired codes, and codes that Wikipedia, from which lid.176 has learned,
# uses in its own way: als is Alemannic there, and Tosk Albanian in ISO 639-3.
_EXCEPTIONS = {
    "zh": "wuu yue zh", "cmn": "zh", "wuu": "wuu zh", "yue": "yue zh", "no": "nn no", "nb": "no", "nob": "no",
    "nn": "nn no", "sr": "sh sr", "hr": "hr sh", "bs": "bs sh", "sh": "bs hr sh sr", "hbs": "bs hr sh sr",
    "ar": "ar arz", "arb": "ar", "arz": "ar arz", "az": "az azb", "azb": "az azb", "azj": "az",
    "ku": "ckb ku", "kmr": "ku", "ckb": "ckb ku", "ne": "dty ne", "npi": "ne", "dty": "dty ne", "bho": "bh",
    "chm": "mhr mrj", "iw": "he", "in": "id", "jw": "jv", "ji": "yi", "mo": "ro", "als": "sq", "gsw": "als",
}  # fmt: skip
_LABELS = frozenset(_LID176.split())
_SHORT_CODES = dict(pair.split("-") for pair in _SHORT.split())


def shortest_code(language: str) -> str:
    """The code of two letters for a language with one of three, such as `tur`, if there is just one."""
    if language in _LABELS:
        return language
    codes = [label for label in labels_of(language) if len(label) == 2]
    return codes[0] if len(codes) == 1 else language


def labels_of(language: str, known: Collection[str] = _LABELS) -> tuple[str, ...]:
    """The labels that stand for a language, among those that an identifier has.

    Args:
        language: a code of ISO 639-1, 639-2 or 639-3.
        known: the identifier's labels; by default those of lid.176. A label that is the code itself counts
            if no other does.
    """
    short = _SHORT_CODES.get(language, language)
    labels = (_EXCEPTIONS.get(language) or _EXCEPTIONS.get(short) or short).split()
    listed = tuple(label for label in labels if label in known)
    return listed or ((language,) if language in known else ())
