// The price comes late and the button moves, as on real pages. What counts is who pressed the button: a press made by
// a script is not `isTrusted`, and a form that a script submits had no press at all.
const form = document.getElementById("order-form");
const place = document.getElementById("order-button");
let pressed = false;

function freshButton(disabled) {
  const button = document.createElement("button");
  button.textContent = "Order";
  button.disabled = disabled;
  button.addEventListener("click", (event) => { pressed = event.isTrusted; });
  place.replaceChildren(button);
  return button;
}

async function showPrice() {
  const answer = await fetch("/api/price/" + form.elements.token.value);
  if (!answer.ok) return;
  const price = document.getElementById("price");
  price.textContent = (await answer.json()).price;
  price.hidden = false;
  document.getElementById("price-wait").hidden = true;
  // Rendered anew and sliding into place: whoever measures first and presses later misses it.
  freshButton(false).animate(
    [{ transform: "translateX(18rem)" }, { transform: "none" }],
    { duration: 500, easing: "ease-out" },
  );
}

for (const name of ["name", "email"]) {
  const field = form.elements[name];
  const error = document.getElementById(name + "-error");
  field.addEventListener("invalid", () => { error.textContent = field.validationMessage; });
  field.addEventListener("input", () => { error.textContent = ""; });
}

form.addEventListener("submit", (event) => {
  form.elements.pressed.value = event.isTrusted && pressed ? "trusted" : "script";
  pressed = false;
});

freshButton(true);
setTimeout(showPrice, 400);
