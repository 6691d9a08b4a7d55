// The search box needs a worker, which a browser does not start for a page that is opened from the disk. There, a
// hidden frame does its work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.worker = this;
      frame.srcdoc = `<body><script>
        postMessage = (data) => frameElement.worker.dispatchEvent(new MessageEvent("message", { data }));
        importScripts = (...addresses) => addresses.reduce((before, src) => before.then(() => new Promise((done) => {
          document.body.append(Object.assign(document.createElement("script"), { src, onload: done, onerror: done }));
        })), Promise.resolve());
      </script><script src="${new URL(address, location)}"></script></body>`;
      this.loaded = new Promise((done) => { frame.onload = () => done(frame.contentWindow); });
      document.body.append(frame);
    }

    postMessage(data) {
      this.loaded.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
  };
}
