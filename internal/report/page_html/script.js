'use strict';
(() => {
  const form = document.getElementById('filter'), list = document.getElementById('list'), rest = document.getElementById('more');
  if (!form) return;
  const output = form.querySelector('output'), button = rest && rest.firstElementChild;
  const cells = Array.from(list.children, (element, i) => {
    const summary = element.firstChild;
    return {element, i, v: JSON.parse(element.dataset.v), name: summary.querySelector('code').textContent, text: summary.textContent.toLowerCase()};
  });
  const step = Math.max(cells.length, 1000), all = rest ? +rest.dataset.cells : cells.length, whole = rest ? +rest.dataset.whole : all;

  // load gives what a file beside the page holds, which calls accelgate.
  const had = new Map(), asked = new Map();
  window.accelgate = (id, name, values) => { if (id === rest.dataset.id) had.set(name, values); };
  const load = (name) => {
    if (!asked.has(name)) asked.set(name, new Promise((done, fail) => {
      const script = document.createElement('script'), file = rest.dataset.folder + '/' + name + '.js';
      script.src = file;
      script.onload = () => (had.has(name) ? done(had.get(name)) : fail(new Error(file + ' is of another report: write the report again')));
      script.onerror = () => { asked.delete(name); fail(new Error(file + ' is not there: keep the folder beside the page')); };
      document.head.append(script);
    }));
    return asked.get(name);
  };
  const element = (name, text, attributes) => {
    const e = document.createElement(name);
    if (text) e.textContent = text;
    return Object.assign(e, attributes);
  };
  const marks = {FAIL: 'fail', WARN: 'warn', UNDECIDED: 'warn'};
  // shown is the element of a cell, which a line of a file gets when it is needed.
  const shown = (cell) => {
    if (cell.element) return cell.element;
    const [mark, name, metric, change] = cell.line, summary = element('summary'), size = element('span', '', {className: 'change'});
    if (mark) summary.append(element('span', mark, {className: 'mark ' + (marks[mark] || '')}));
    if (metric) size.append(element('code', metric), change);
    summary.append(' ', element('code', name), ' ', element('span', cell.v.c, {className: 'class'}), ' ', size);
    cell.element = element('details', '', {className: 'cell', id: 'c' + cell.i});
    cell.element.append(summary);
    return cell.element;
  };
  let files = 0;
  const upTo = async (n) => {
    if (n >= all) for (let k = files; k < +rest.dataset.files; k++) load('lines-' + k).catch(() => {});
    while (cells.length < Math.min(n, all)) {
      output.textContent = cells.length + ' of ' + all + ' loaded';
      for (const line of await load('lines-' + files)) {
        const v = line[4], i = cells.length;
        cells.push({i, v, line, name: line[1], text: line.slice(0, 4).concat(v.c).join(' ').toLowerCase()});
      }
      files++;
    }
  };
  const orders = {
    i: (a, b) => a.i - b.i,
    loss: (a, b) => a.v.d - b.v.d || a.i - b.i,
    gain: (a, b) => b.v.d - a.v.d || a.i - b.i,
    noise: (a, b) => b.v.n - a.v.n || a.i - b.i,
    t: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.i - b.i),
  };
  let limit = Math.max(cells.length, 1), turn = 0, loading = Promise.resolve();
  // render shows what the form says, at once or when what it needs is loaded.
  const render = () => {
    const mine = ++turn, words = form.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const facets = Array.from(form.elements).filter((e) => /^p\d+$/.test(e.name) && e.value !== '').map((e) => [Number(e.name.slice(1)), e.value]);
    const host = form.host ? form.host.value : '', chosen = words.length > 0 || facets.length > 0 || form.class.value !== '' || host !== '';
    const draw = () => {
      const found = cells.filter((cell) => (form.class.value === '' || cell.v.c === form.class.value) && (host === '' || cell.v.h === host) &&
        facets.every(([k, value]) => cell.v.p[k] === value) && words.every((w) => cell.text.includes(w))).sort(orders[form.sort.value]);
      const some = found.slice(0, limit);
      list.replaceChildren(...some.map(shown));
      if (button) button.hidden = some.length === (chosen ? found.length : all);
      output.textContent = some.length + ' of ' + all + ' shown' + (chosen && some.length < found.length ? ', ' + found.length + ' found' : '');
    };
    const need = chosen || form.sort.value !== 'i' ? all : limit;
    if (cells.length >= Math.min(need, all)) return draw();
    loading = loading.then(() => mine === turn && upTo(need)).then(() => mine === turn && draw()).catch((problem) => { output.textContent = problem.message; });
    return loading;
  };
  form.addEventListener('input', render);
  form.addEventListener('submit', (e) => e.preventDefault());
  if (button) button.addEventListener('click', () => { limit += step; render(); });
  list.addEventListener('toggle', async (e) => {
    const cell = e.target, i = Number(cell.id.slice(1)) - whole;
    if (!cell.open || i < 0 || cell.childElementCount > 1) return;
    const size = +rest.dataset.size;
    try {
      const bodies = await load('cells-' + Math.floor(i / size));
      if (cell.childElementCount === 1) cell.insertAdjacentHTML('beforeend', bodies[i % size]);
    } catch (problem) {
      cell.append(element('p', problem.message));
    }
  }, true);
  form.hidden = false;
  if (button) button.hidden = cells.length === all;
  output.textContent = cells.length + ' of ' + all + ' shown';
  const open = async () => {
    const at = /^#c(\d+)$/.exec(location.hash);
    if (!at) return;
    if (+at[1] >= limit && +at[1] < all) {
      await upTo(+at[1] + 1);
      form.q.value = cells[at[1]].name;
      await render();
    }
    const cell = document.getElementById(location.hash.slice(1));
    if (cell) { cell.open = true; cell.scrollIntoView(); }
  };
  addEventListener('hashchange', open);
  open().catch((problem) => { output.textContent = problem.message; });
})();
