// Answers for pages below its folder that the server does not have.
oninstall = () => skipWaiting();
onactivate = (event) => event.waitUntil(clients.claim());
onfetch = (event) => {
  if (!event.request.url.endsWith("/made-up")) return;
  event.respondWith(new Response("<!doctype html><title>Made up</title><h1>Made up by the worker</h1>", { headers: { "Content-Type": "text/html" } }));
};
