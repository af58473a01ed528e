onconnect = (event) => {
  const port = event.ports[0];
  port.onmessage = async ({ data: target }) => {
    try {
      await fetch(target, { mode: "no-cors", cache: "no-store" });
      port.postMessage("reached");
    } catch {
      port.postMessage("failed");
    }
  };
};
