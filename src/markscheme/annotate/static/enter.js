// The personal link carries its token after '#', which browsers send to no server and no log.
"use strict";
const token = location.hash.slice(1);
if (token) {
  history.replaceState(null, "", location.pathname);
  const form = document.getElementById("enter");
  form.elements.token.value = token;
  form.requestSubmit();
}
