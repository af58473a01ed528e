const answer = document.getElementById("answer");
const ask = {
  alert: () => { alert("Hello from the shop."); return "closed"; },
  confirm: () => (confirm("Really empty the warehouse?") ? "emptied" : "kept"),
  prompt: () => { const name = prompt("What is the name of the ship?", "Argo"); return name === null ? "nameless" : name; },
};
for (const [id, question] of Object.entries(ask)) {
  document.getElementById(id).addEventListener("click", () => { answer.textContent = question(); });
}
