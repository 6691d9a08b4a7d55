/**
 * Sentence embeddings in a browser or in Node.js, without any other library.
 *
 *     import { load } from "./paraphrastic.js";
 *     const model = load(await (await fetch("model.safetensors")).arrayBuffer());
 *     model.similarity("A dog runs.", "A hound is running.");
 *
 * `paraphrastic export --format javascript` writes this module and a model that it loads. Its pieces are those of
 * Python's `load_model`, and its vectors are the same but for rounding.
 */

/** The characters at which Python's `str.split` splits a text. */
const WHITE_SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;
/** sentencepiece writes U+2581 for a space. */
const SPACE = [0xe2, 0x96, 0x81];
const REPLACEMENT = [0xef, 0xbf, 0xbd];
/** How much worse than the worst piece an unknown character is: sentencepiece's `kUnkPenalty`. */
const UNKNOWN_PENALTY = 10;
/** The types of sentencepiece's pieces that matter here. */
const UNKNOWN = 2, UNUSED = 5, BYTE = 6, NORMAL = 1;
/** The word that marks a vocabulary with spellings of unknown text, as in the papers' code. */
const MARK = "UUUNKKK";
/** The table of known words is emptied when it has more of them than this. */
const MAX_WORDS = 1 << 18;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The tensors and the metadata of a safetensors file.
 * @param {ArrayBuffer | Uint8Array} content
 * @returns {{tensors: Map<string, {dtype: string, shape: number[], bytes: Uint8Array}>, metadata: Record<string, string>}}
 */
function readSafetensors(content) {
  // In Node.js, a `Buffer` would share its memory with its slices.
  const bytes = ArrayBuffer.isView(content)
    ? new Uint8Array(content.buffer, content.byteOffset, content.byteLength)
    : new Uint8Array(content);
  if (bytes.length < 8) throw new Error("the model is not a safetensors file: it is too short");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = 8 + Number(view.getBigUint64(0, true));
  /** @type {Record<string, any>} */
  let header;
  try {
    header = JSON.parse(decoder.decode(bytes.subarray(8, start)));
  } catch {
    throw new Error("the model is not a safetensors file: its header is damaged");
  }
  if (typeof header !== "object" || header === null) throw new Error("the model is not a safetensors file");
  const tensors = new Map();
  for (const [name, { dtype, shape, data_offsets: place }] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    if (start + place[1] > bytes.length) throw new Error(`the model is cut off: ${name} is incomplete`);
    // A copy begins where numbers of any size may begin.
    tensors.set(name, { dtype, shape, bytes: bytes.slice(start + place[0], start + place[1]) });
  }
  return { tensors, metadata: header.__metadata__ ?? {} };
}

/**
 * Numbers of half precision in single precision.
 * @param {Uint16Array} halves
 * @returns {Float32Array}
 */
function fromHalves(halves) {
  return Float32Array.from(halves, (half) => {
    const exponent = (half >> 10) & 31, fraction = half & 1023;
    const size = exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : fraction * 2 ** -24;
    return half & 0x8000 ? -size : size;
  });
}

/** A tree of byte strings, each with a number; its edges are in a hash table. */
class Trie {
  /** @param {Iterable<[Uint8Array, number]>} entries */
  constructor(entries) {
    this.size = 1;
    this.keys = new Int32Array(1 << 10);
    this.children = new Int32Array(1 << 10);
    this.values = new Int32Array(1 << 9).fill(-1);
    for (const [key, value] of entries) {
      let node = 0;
      for (const byte of key) node = this.#child(node, byte);
      this.values[node] = value;
    }
  }

  /**
   * The node below `node` that a byte leads to, or 0.
   * @param {number} node
   * @param {number} byte
   */
  follow(node, byte) {
    const key = node * 256 + byte + 1, mask = this.keys.length - 1;
    let slot = Math.imul(key, 0x9e3779b1) >>> 8 & mask;
    while (this.keys[slot] && this.keys[slot] !== key) slot = (slot + 1) & mask;
    return this.keys[slot] ? this.children[slot] : 0;
  }

  /** @param {number} node @param {number} byte */
  #child(node, byte) {
    const found = this.follow(node, byte);
    if (found) return found;
    if (2 * this.size >= this.keys.length) this.#grow();
    this.#insert(node * 256 + byte + 1, this.size);
    return this.size++;
  }

  /** @param {number} key @param {number} child */
  #insert(key, child) {
    const mask = this.keys.length - 1;
    let slot = Math.imul(key, 0x9e3779b1) >>> 8 & mask;
    while (this.keys[slot]) slot = (slot + 1) & mask;
    this.keys[slot] = key;
    this.children[slot] = child;
  }

  #grow() {
    const { keys, children, values } = this;
    this.keys = new Int32Array(2 * keys.length);
    this.children = new Int32Array(2 * keys.length);
    this.values = new Int32Array(keys.length).fill(-1);
    this.values.set(values);
    keys.forEach((key, slot) => key && this.#insert(key, children[slot]));
  }
}

/** Cuts text into pieces as sentencepiece does with a unigram model. */
class Tokenizer {
  /**
   * @param {Map<string, any>} tensors
   * @param {any} settings
   */
  constructor(tensors, settings) {
    this.settings = settings;
    /** Expressions and what replaces their matches.
     * @type {[RegExp, string][]} */
    this.cleaning = settings.cleaning.map(
      (/** @type {[string, string]} */ [pattern, other]) => [new RegExp(pattern, "gu"), other],
    );
    const text = tensors.get("pieces").bytes;
    const ends = new Int32Array(tensors.get("piece_ends").bytes.buffer);
    this.scores = new Float32Array(tensors.get("scores").bytes.buffer);
    this.types = tensors.get("types").bytes;
    /** @type {[Uint8Array, number][]} */
    const spellings = Array.from(ends, (end, piece) => [text.subarray(piece ? ends[piece - 1] : 0, end), piece]);
    this.trie = new Trie(spellings.filter(([, piece]) => this.types[piece] === NORMAL));
    this.unknown = this.types.indexOf(UNKNOWN);
    this.bytes = spellings.flatMap(([, piece]) => (this.types[piece] === BYTE ? [piece] : []));
    /** Spellings of unknown text with pieces of their own, if the model has such.
     * @type {Map<string, number> | null} */
    this.spellings = new Map(spellings.map(([bytes, piece]) => [decoder.decode(bytes), piece]));
    const mark = this.spellings.get(MARK);
    if (mark === undefined || this.types[mark] !== UNUSED) this.spellings = null;
    let worst = Infinity;
    this.scores.forEach((score, piece) => {
      if (this.types[piece] === NORMAL && score < worst) worst = score;
    });
    this.unknownScore = Math.fround(worst - UNKNOWN_PENALTY);
    const charsmap = tensors.get("charsmap").bytes;
    const size = charsmap.length ? new DataView(charsmap.buffer).getUint32(0, true) : 0;
    this.units = new Uint32Array(charsmap.slice(4, 4 + size).buffer);
    this.replacements = charsmap.subarray(4 + size);
    /** @type {Map<string, number[]>} */
    this.words = new Map();
  }

  /**
   * The pieces of a text.
   * @param {string} text
   * @returns {number[]}
   */
  tokenize(text) {
    const prepared = this.prepare(text);
    if (!this.settings.by_word) return this.encode(prepared);
    const pieces = [];
    for (const word of prepared.split(" ")) {
      if (!word) continue;
      let found = this.words.get(word);
      if (!found) {
        if (this.words.size >= MAX_WORDS) this.words.clear();
        found = this.encode(word);
        if (word.length <= 64) this.words.set(word, found);
      }
      for (const piece of found) pieces.push(piece);
    }
    return pieces;
  }

  /**
   * A text in the form in which sentencepiece receives it.
   * @param {string} text
   */
  prepare(text) {
    const { folding, lowercase } = this.settings;
    for (const [pattern, other] of this.cleaning) text = text.replace(pattern, other);
    if (Object.keys(folding).length) {
      text = Array.from(text.normalize("NFC"), (letter) => folding[letter] ?? letter).join("");
    }
    return lowercase ? text.toLowerCase() : text;
  }

  /** @param {string} text */
  encode(text) {
    const bytes = this.normalize(encoder.encode(text));
    return bytes.length ? this.#best(bytes) : [];
  }

  /**
   * The best cut of normalized text, by Viterbi's algorithm in sentencepiece's single precision.
   * @param {number[]} text
   */
  #best(text) {
    const size = text.length, { trie, scores } = this;
    const best = new Float32Array(size + 1), starts = new Int32Array(size + 1).fill(-1);
    const pieces = new Int32Array(size + 1);
    for (let start = 0; start < size; ) {
      const width = Math.min(size - start, text[start] < 0xc0 ? 1 : text[start] < 0xe0 ? 2 : text[start] < 0xf0 ? 3 : 4);
      let single = false;
      for (let at = start, node = 0; at < size; ) {
        node = trie.follow(node, text[at++]);
        if (!node) break;
        const piece = trie.values[node];
        if (piece < 0) continue;
        const score = Math.fround(scores[piece] + best[start]);
        if (starts[at] < 0 || score > best[at]) {
          [best[at], starts[at], pieces[at]] = [score, start, piece];
        }
        single ||= at - start === width;
      }
      if (!single) {
        const score = Math.fround(this.unknownScore + best[start]), at = start + width;
        if (starts[at] < 0 || score > best[at]) {
          [best[at], starts[at], pieces[at]] = [score, start, this.unknown];
        }
      }
      start += width;
    }
    const found = [];
    for (let end = size; end > 0; end = starts[end]) found.push(end);
    found.push(0);
    return this.#withUnknown(text, found.reverse(), pieces);
  }

  /**
   * The pieces between indices of a text; a run of unknown characters becomes bytes, its spelling, or one piece.
   * @param {number[]} text
   * @param {number[]} indices
   * @param {Int32Array} pieces
   */
  #withUnknown(text, indices, pieces) {
    const found = [];
    for (let i = 1; i < indices.length; i++) {
      const first = indices[i - 1];
      if (pieces[indices[i]] !== this.unknown) {
        found.push(pieces[indices[i]]);
        continue;
      }
      while (i + 1 < indices.length && pieces[indices[i + 1]] === this.unknown) i++;
      const run = text.slice(first, indices[i]);
      if (this.bytes.length) {
        for (const byte of run) found.push(this.bytes[byte]);
      } else if (this.spellings) {
        const spelling = decoder.decode(Uint8Array.from(run));
        for (const part of (this.settings.lowercase ? spelling.toLowerCase() : spelling).split(WHITE_SPACE)) {
          if (part) found.push(this.spellings.get(part) ?? this.unknown);
        }
      } else {
        found.push(this.unknown);
      }
    }
    return found;
  }

  /**
   * Replace characters by the model's map, and write U+2581 for spaces.
   * @param {Uint8Array} text
   * @returns {number[]}
   */
  normalize(text) {
    const { remove_extra_whitespaces: collapse, add_dummy_prefix: prefix } = this.settings;
    let at = 0;
    const isSpace = () => this.#replaced(text, at).length === 1 && this.#part[0] === 0x20;
    while (collapse && at < text.length && isSpace()) at += this.#width;
    if (at >= text.length) return [];
    const normalized = prefix ? [...SPACE] : [];
    let after = collapse;
    while (at < text.length) {
      const part = this.#replaced(text, at);
      let first = 0;
      while (after && part[first] === 0x20) first++;
      for (let i = first; i < part.length; i++) {
        if (part[i] === 0x20) normalized.push(...SPACE);
        else normalized.push(part[i]);
      }
      if (first < part.length) after = part[part.length - 1] === 0x20;
      if (!collapse) after = false;
      at += this.#width;
    }
    const ends = () => SPACE.every((byte, i) => normalized[normalized.length - 3 + i] === byte);
    while (collapse && normalized.length >= 3 && ends()) normalized.length -= 3;
    return normalized;
  }

  /** What `#replaced` returned, and how many bytes of the text it stands for. */
  #part = /** @type {ArrayLike<number>} */ ([]);
  #width = 0;

  /**
   * What the longest key of the map at this place of a text becomes, or the character that is there. The map is a
   * double array of the library Darts-clone: a unit says which byte leads to it and where its children are.
   * @param {Uint8Array} text
   * @param {number} at
   */
  #replaced(text, at) {
    const { units, replacements } = this;
    let value = -1, length = 0;
    if (units.length) {
      const below = (/** @type {number} */ unit) => (unit >>> 10) << ((unit & 0x200) >>> 6);
      for (let place = below(units[0]), end = at; end < text.length; ) {
        place ^= text[end];
        const unit = units[place];
        if ((unit & 0x800000ff) >>> 0 !== text[end]) break;
        end++;
        place ^= below(unit);
        if (unit & 0x100) [value, length] = [units[place] & 0x7fffffff, end - at];
      }
    }
    if (length) {
      this.#part = replacements.subarray(value, replacements.indexOf(0, value));
      this.#width = length;
    } else {
      // `TextEncoder` writes no malformed text, so every character is whole.
      this.#width = text[at] < 0x80 ? 1 : text[at] < 0xe0 ? 2 : text[at] < 0xf0 ? 3 : 4;
      this.#part = text.subarray(at, at + this.#width);
    }
    return this.#part;
  }
}

/** A model: a sentence's vector is the mean of its pieces' embeddings. */
export class Model {
  #tokenizer;
  #packed;
  #table;
  #factors;
  #known;
  #unknown;

  /**
   * @param {Map<string, any>} tensors
   * @param {any} settings
   */
  constructor(tensors, settings) {
    const { dtype, shape, bytes } = tensors.get("embeddings");
    const floats = (/** @type {string} */ name) => new Float32Array(tensors.get(name).bytes.buffer);
    this.#unknown = floats("unknown");
    /** What the model's `config.json` says, such as its `languages`. */
    this.config = settings.config;
    /** Number of dimensions of a vector. */
    this.dim = this.#unknown.length;
    // Two entries of 4 bits share a byte; see `paraphrastic/model/average.py`.
    this.#packed = dtype === "U8";
    if (this.#packed) this.#table = bytes;
    else if (dtype === "I8") this.#table = new Int8Array(bytes.buffer);
    else if (dtype === "F16") this.#table = fromHalves(new Uint16Array(bytes.buffer));
    else this.#table = new Float32Array(bytes.buffer);
    this.#factors = tensors.has("weights") ? floats("weights") : new Float32Array(shape[0]).fill(1);
    this.#known = tensors.get("known").bytes;
    this.#tokenizer = new Tokenizer(tensors, settings);
  }

  /**
   * The pieces of a sentence that count for its vector.
   * @param {string} sentence
   * @returns {number[]}
   */
  pieces(sentence) {
    return this.#tokenizer.tokenize(sentence).filter((piece) => this.#known[piece]);
  }

  /**
   * Vectors of sentences, one after the other: `n * dim` numbers. An empty sentence has a vector of zeros.
   * @param {string[]} sentences
   * @returns {Float32Array}
   */
  embed(sentences) {
    const vectors = new Float32Array(sentences.length * this.dim);
    sentences.forEach((sentence, row) => vectors.set(this.#vector(sentence), row * this.dim));
    return vectors;
  }

  /**
   * Cosine of the vectors of two sentences, from -1 to 1; 0 if one of them is empty.
   * @param {string} a
   * @param {string} b
   * @returns {number}
   */
  similarity(a, b) {
    return cosine(this.#vector(a), this.#vector(b));
  }

  /**
   * The share of each word of `a` in the similarity of `a` and `b`; the shares sum up to the similarity. White
   * space separates words; a text in which it does not separate pieces is one word.
   * @param {string} a
   * @param {string} b
   * @returns {{word: string, share: number}[]}
   */
  shares(a, b) {
    const own = this.#vector(a), other = this.#vector(b);
    const lengths = Math.sqrt(dot(own, own) * dot(other, other));
    const words = a.split(WHITE_SPACE).filter(Boolean);
    const parts = this.#tokenizer.settings.by_word ? words : words.length ? [a] : [];
    const counts = parts.map((word) => this.pieces(word).length);
    const count = counts.reduce((sum, each) => sum + each, 0);
    return parts.map((word, i) => {
      // A sentence without known pieces has one vector as a whole.
      const weight = count ? counts[i] / count : 1 / parts.length;
      const share = counts[i] || !count ? (weight * dot(this.#vector(word), other)) / lengths : 0;
      return { word, share: lengths ? share : 0 };
    });
  }

  /**
   * The `k` vectors of a matrix with the largest cosines to a sentence, the best first.
   * @param {string} query
   * @param {Float32Array} matrix vectors, as `embed` returns them
   * @param {number} k
   * @returns {{index: number, score: number}[]}
   */
  nearest(query, matrix, k) {
    const { dim } = this, vector = this.#vector(query);
    if (matrix.length % dim) throw new Error(`the matrix has no whole vectors of ${dim} numbers`);
    const scores = new Float64Array(matrix.length / dim);
    for (let row = 0; row < scores.length; row++) {
      scores[row] = cosine(vector, matrix.subarray(row * dim, (row + 1) * dim));
    }
    const order = Array.from(scores.keys()).sort((one, two) => scores[two] - scores[one] || one - two);
    return order.slice(0, Math.max(0, k)).map((index) => ({ index, score: scores[index] }));
  }

  /** @param {string} sentence */
  #vector(sentence) {
    const { dim } = this, table = this.#table;
    const all = this.#tokenizer.tokenize(sentence);
    const sums = new Float64Array(dim);
    let count = 0;
    for (const piece of all) {
      if (!this.#known[piece]) continue;
      count++;
      const factor = this.#factors[piece], start = piece * dim;
      if (this.#packed) {
        for (let k = 0; k < dim; k += 2) {
          const byte = table[(start + k) / 2];
          sums[k] += factor * (2 * (byte & 15) - 15);
          sums[k + 1] += factor * (2 * (byte >> 4) - 15);
        }
      } else {
        for (let k = 0; k < dim; k++) sums[k] += factor * table[start + k];
      }
    }
    if (!count && all.length) return this.#unknown;
    // A loop, since `Float32Array.from` with a function takes many times as long.
    const vector = new Float32Array(dim);
    for (let k = 0; k < dim; k++) vector[k] = sums[k] / (count || 1);
    return vector;
  }
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
function dot(a, b) {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
function cosine(a, b) {
  let product = 0, first = 0, second = 0;
  for (let k = 0; k < a.length; k++) {
    product += a[k] * b[k];
    first += a[k] * a[k];
    second += b[k] * b[k];
  }
  return first && second ? Math.max(-1, Math.min(1, product / Math.sqrt(first * second))) : 0;
}

/**
 * Load a model that `paraphrastic export --format javascript` wrote.
 * @param {ArrayBuffer | Uint8Array} bytes the content of `model.safetensors`
 * @returns {Model}
 */
export function load(bytes) {
  const { tensors, metadata } = readSafetensors(bytes);
  const settings = metadata["paraphrastic-javascript"];
  if (!settings) {
    throw new Error("the model was not exported for JavaScript; paraphrastic export --format javascript does that");
  }
  return new Model(tensors, JSON.parse(settings));
}
