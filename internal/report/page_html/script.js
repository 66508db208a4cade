'use strict';
(() => {
  const form = document.getElementById('filter'), list = document.getElementById('list');
  if (!form) return;
  const output = form.querySelector('output');
  const cells = Array.from(list.children, (element, i) => {
    const v = JSON.parse(element.dataset.v);
    const summary = element.firstChild;
    return {element, i, v, name: summary.querySelector('code').textContent, text: summary.textContent.toLowerCase()};
  });
  const orders = {
    i: (a, b) => a.i - b.i,
    loss: (a, b) => a.v.d - b.v.d || a.i - b.i,
    gain: (a, b) => b.v.d - a.v.d || a.i - b.i,
    noise: (a, b) => b.v.n - a.v.n || a.i - b.i,
    t: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.i - b.i),
  };
  let sorted = 'i';
  const filter = () => {
    const words = form.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const facets = Array.from(form.elements).filter((e) => /^p\d+$/.test(e.name) && e.value !== '').map((e) => [Number(e.name.slice(1)), e.value]);
    let shown = 0;
    for (const cell of cells) {
      const keep = (form.class.value === '' || cell.v.c === form.class.value) && (!form.host || form.host.value === '' || cell.v.h === form.host.value) &&
        facets.every(([k, value]) => cell.v.p[k] === value) && words.every((w) => cell.text.includes(w));
      if (cell.element.hidden === keep) cell.element.hidden = !keep;
      shown += keep;
    }
    output.textContent = shown + ' of ' + cells.length + ' shown';
  };
  const sort = () => {
    if (form.sort.value === sorted) return;
    sorted = form.sort.value;
    const fragment = document.createDocumentFragment();
    for (const cell of cells.slice().sort(orders[sorted])) fragment.append(cell.element);
    list.append(fragment);
  };
  form.addEventListener('input', () => { sort(); filter(); });
  form.addEventListener('submit', (e) => e.preventDefault());
  form.hidden = false;
  filter();
  const open = () => { const cell = /^#c\d+$/.test(location.hash) && document.querySelector(location.hash); if (cell) cell.open = true; };
  addEventListener('hashchange', open);
  open();
})();
