// The page's own part, which follows `paraphrastic.js` in the same script.

/** More words than this are not shown one by one, since nobody would look at them. */
const SHOWN_WORDS = 200;
const SHOWN_RESULTS = 10;
/** Sentences that are embedded before the page reacts again. */
const BLOCK = 1000;

/** @param {string} id @returns {any} */
const at = (id) => document.getElementById(id);

function openModel() {
  const text = atob(at("model").textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return load(bytes);
}

/** @param {Model} model */
function showSimilarity(model) {
  const [first, second] = [at("first").value, at("second").value];
  const score = model.similarity(first, second);
  // Minus zero would be shown with its sign.
  at("similarity").value = (Math.round(score * 100) / 100 || 0).toFixed(2);
  at("bar").style.width = `${Math.max(0, score) * 100}%`;
  showWords(at("first-words"), model.shares(first, second));
  showWords(at("second-words"), model.shares(second, first));
}

/** @param {HTMLElement} list @param {{word: string, share: number}[]} shares */
function showWords(list, shares) {
  const largest = Math.max(0.1, ...shares.slice(0, SHOWN_WORDS).map(({ share }) => share));
  const items = shares.slice(0, SHOWN_WORDS).map(({ word, share }) => {
    const item = document.createElement("li");
    const number = document.createElement("span");
    number.className = "unseen";
    number.textContent = `: ${share.toFixed(2)}`;
    item.append(word, number);
    item.title = `share in the similarity: ${share.toFixed(3)}`;
    item.style.setProperty("--share", String(Math.max(0, share / largest)));
    item.classList.toggle("lowers", share < -0.005);
    return item;
  });
  if (shares.length > SHOWN_WORDS) {
    const rest = document.createElement("li");
    rest.textContent = `… and ${(shares.length - SHOWN_WORDS).toLocaleString("en")} more words`;
    items.push(rest);
  }
  list.replaceChildren(...items);
}

/** The sentences to search in, and their vectors. */
class List {
  /** @type {string[]} */
  sentences = [];
  matrix = new Float32Array(0);
  seconds = 0;
  #version = 0;

  /** @param {Model} model */
  constructor(model) {
    this.model = model;
  }

  /**
   * Embed other sentences; false if yet others were given meanwhile.
   * @param {string} text
   */
  async read(text) {
    const version = ++this.#version, start = performance.now();
    const sentences = text.split("\n").map((line) => line.trim()).filter(Boolean);
    const matrix = new Float32Array(sentences.length * this.model.dim);
    for (let row = 0; row < sentences.length; row += BLOCK) {
      matrix.set(this.model.embed(sentences.slice(row, row + BLOCK)), row * this.model.dim);
      await new Promise((done) => setTimeout(done));
      if (version !== this.#version) return false;
    }
    [this.sentences, this.matrix] = [sentences, matrix];
    this.seconds = (performance.now() - start) / 1000;
    return true;
  }
}

/** @param {List} list */
function showResults(list) {
  const query = at("query").value, { sentences, matrix, model } = list;
  const start = performance.now();
  const found = query.trim() ? model.nearest(query, matrix, SHOWN_RESULTS) : [];
  const spent = performance.now() - start;
  const number = sentences.length.toLocaleString("en");
  at("status").textContent = found.length
    ? `Found among ${number} ${sentences.length === 1 ? "sentence" : "sentences"} in ${spent.toFixed(1)} milliseconds.`
    : sentences.length
      ? `There are ${number} sentences, which were read in ${list.seconds.toFixed(2)} seconds. Type what you are looking for.`
      : "There are no sentences to search in. Paste some below, one per line.";
  at("results").replaceChildren(...found.map(({ index, score }) => {
    const item = document.createElement("li"), number = document.createElement("b");
    const text = document.createElement("span");
    number.textContent = (Math.round(score * 100) / 100 || 0).toFixed(2);
    text.textContent = sentences[index];
    text.dir = "auto";
    item.append(number, text);
    return item;
  }));
}

async function begin() {
  const model = openModel(), list = new List(model);
  for (const id of ["first", "second"]) at(id).addEventListener("input", () => showSimilarity(model));
  showSimilarity(model);
  at("query").addEventListener("input", () => showResults(list));
  const read = async () => (await list.read(at("sentences").value)) && showResults(list);
  let waiting = 0;
  at("sentences").addEventListener("input", () => {
    // While a person types, the whole list is not read again at every letter.
    clearTimeout(waiting);
    waiting = setTimeout(read, 300);
  });
  await read();
  document.documentElement.dataset.ready = "yes";
}

begin().catch((error) => {
  at("fault").hidden = false;
  at("fault").textContent = `The model cannot be used in this browser: ${error.message}`;
});
