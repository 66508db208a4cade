'use strict';
// Draws the trends of a cell so that they can be zoomed, and fills the page that compares two runs. Data files call accelgate(key, value).
(() => {
  const root = document.body.dataset.root, repository = document.body.dataset.repository.replace(/\/$/, '');
  const have = new Map(), wanted = new Map();
  window.accelgate = (key, value) => {
    have.set(key, value);
    for (const done of wanted.get(key) || []) done(value);
    wanted.delete(key);
  };
  // load gives the value of a key, whose file is loaded once.
  const load = (key, file) => new Promise((done, fail) => {
    if (have.has(key)) return done(have.get(key));
    if (wanted.has(key)) return wanted.get(key).push(done);
    wanted.set(key, [done]);
    const script = document.createElement('script');
    script.src = root + file;
    script.onerror = () => { wanted.delete(key); fail(new Error(file + ' is not there')); };
    document.head.append(script);
  });
  const element = (name, text, attributes) => {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    for (const key in attributes || {}) e.setAttribute(key, attributes[key]);
    return e;
  };
  const safe = (revision) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(revision);
  const link = (text, path) => (repository && path ? element('a', text, {href: repository + path}) : element('code', text));
  const digits = (v) => (v === null || v === undefined ? '–' : String(Number(v.toPrecision(5))));
  const day = (run) => run[0].slice(0, 16).replace('T', ' ');

  // The trend of one metric: drag over it to zoom, choose a run by the slider or by a click.
  const trend = (section, series, runs) => {
    const figure = section.querySelector('figure');
    const name = section.id, wide = 560, high = 140, left = 64, right = 8, top = 8, bottom = 120;
    let from = 0, to = series.values.length - 1, at = to;
    const part = new RegExp('(?:^#|&)' + name + '=(\\d+)-(\\d+)').exec(location.hash);
    if (part) { from = Math.min(+part[1], to - 1); to = Math.min(Math.max(+part[2], from + 1), to); }
    const ns = 'http://www.w3.org/2000/svg';
    const draw = (parent, tag, attributes, text) => {
      const e = document.createElementNS(ns, tag);
      for (const key in attributes) e.setAttribute(key, attributes[key]);
      if (text !== undefined) e.textContent = text;
      parent.append(e);
      return e;
    };
    const tools = element('div', undefined, {class: 'tools'});
    const slider = element('input', undefined, {type: 'range', min: 0, 'aria-label': 'run of ' + series.name});
    const all = element('button', 'all runs', {type: 'button'}), newest = element('button', 'newest 50', {type: 'button'}), chosen = element('output');
    tools.append(all, newest, slider, chosen);
    figure.after(tools);
    const x = (i) => left + (wide - left - right) * (i - from) / Math.max(to - from, 1);
    const run = (px) => Math.min(to, Math.max(from, Math.round(from + (px - left) / (wide - left - right) * (to - from))));
    const choose = (i) => {
      at = i;
      slider.value = i;
      const [, revision] = runs[i] || ['', ''];
      chosen.replaceChildren(runs[i] ? day(runs[i]) + ' ' : '', link(revision.slice(0, 12) || 'unknown', safe(revision) ? '/commit/' + revision : ''),
        ' ' + digits(series.values[i]) + ' ' + series.unit + (unhealthy.has(i) ? ', unhealthy host' : ''));
      const mark = figure.querySelector('.chosen');
      if (mark) mark.setAttribute('d', 'M' + x(i) + ' ' + top + 'V' + bottom);
    };
    const unhealthy = new Set(series.unhealthy || []);
    const render = () => {
      const seen = series.values.slice(from, to + 1).filter((v) => v !== null);
      if (series.anchor) seen.push(series.anchor);
      if (!seen.length) return;
      let low = Math.min(...seen), range = Math.max(...seen) - low;
      if (!(range > 0)) { range = Math.abs(low) * 0.1 || 1; low -= range / 2; }
      const y = (v) => bottom - (bottom - top) * (0.05 + 0.9 * (v - low) / range);
      const svg = document.createElementNS(ns, 'svg');
      svg.setAttribute('class', 'chart');
      svg.setAttribute('viewBox', '0 0 ' + wide + ' ' + high);
      svg.setAttribute('role', 'img');
      svg.setAttribute('aria-label', series.name + ', runs ' + (from + 1) + ' to ' + (to + 1) + ' of ' + series.values.length);
      draw(svg, 'path', {class: 'axis', d: 'M' + left + ' ' + bottom + 'H' + (wide - right)});
      draw(svg, 'text', {class: 'scale', x: left - 6, y: y(low + range) + 4, 'text-anchor': 'end'}, digits(low + range));
      draw(svg, 'text', {class: 'scale', x: left - 6, y: y(low) + 4, 'text-anchor': 'end'}, digits(low));
      if (runs[from] && runs[to]) {
        draw(svg, 'text', {class: 'scale', x: left, y: high - 4, 'text-anchor': 'start'}, runs[from][0].slice(0, 10));
        draw(svg, 'text', {class: 'scale', x: wide - right, y: high - 4, 'text-anchor': 'end'}, runs[to][0].slice(0, 10));
      }
      if (series.anchor) draw(svg, 'path', {class: 'anchor', d: 'M' + left + ' ' + y(series.anchor) + 'H' + (wide - right)});
      for (const c of series.changes || []) if (c >= from && c <= to) draw(svg, 'path', {class: 'change', d: 'M' + x(c) + ' ' + top + 'V' + bottom});
      let path = '', dots = '', doubtful = '', joined = false;
      for (let i = from; i <= to; i++) {
        const v = series.values[i];
        if (v === null) { joined = false; continue; }
        const place = x(i).toFixed(1) + ' ' + y(v).toFixed(1);
        path += (joined ? 'L' : 'M') + place;
        joined = true;
        if (unhealthy.has(i)) doubtful += 'M' + place + 'h0';
        else if (to - from < 80) dots += 'M' + place + 'h0';
      }
      draw(svg, 'path', {class: 'trend', d: path});
      draw(svg, 'path', {class: 'dots base', d: dots});
      draw(svg, 'path', {class: 'dots doubtful', d: doubtful});
      draw(svg, 'path', {class: 'chosen', d: ''});
      figure.replaceChildren(svg);
      slider.min = from;
      slider.max = to;
      choose(Math.min(to, Math.max(from, at)));
      pointer(svg);
    };
    const zoom = (a, b) => {
      [from, to] = [Math.max(0, Math.min(a, b)), Math.min(series.values.length - 1, Math.max(a, b))];
      const others = location.hash.slice(1).split('&').filter((p) => /^m\d+=/.test(p) && !p.startsWith(name + '='));
      if (from > 0 || to < series.values.length - 1) others.push(name + '=' + from + '-' + to);
      history.replaceState(null, '', others.length ? '#' + others.join('&') : location.pathname + location.search);
      render();
    };
    const pointer = (svg) => {
      const place = (e) => { const box = svg.getBoundingClientRect(); return (e.clientX - box.left) / box.width * wide; };
      let start = null, band = null;
      svg.addEventListener('pointerdown', (e) => { start = place(e); svg.setPointerCapture(e.pointerId); e.preventDefault(); });
      svg.addEventListener('pointermove', (e) => {
        if (start === null) return;
        if (!band) band = draw(svg, 'rect', {class: 'band', y: top, height: bottom - top});
        const now = place(e);
        band.setAttribute('x', Math.min(start, now));
        band.setAttribute('width', Math.abs(now - start));
      });
      svg.addEventListener('pointerup', (e) => {
        const a = start === null ? 0 : run(start), b = run(place(e));
        const dragged = start !== null && Math.abs(place(e) - start) > 8;
        start = null;
        if (dragged && a !== b) return zoom(a, b);
        if (band) band.remove();
        band = null;
        choose(b);
      });
      svg.addEventListener('pointercancel', () => { start = null; if (band) band.remove(); band = null; });
      svg.addEventListener('dblclick', () => zoom(0, series.values.length - 1));
    };
    slider.addEventListener('input', () => choose(+slider.value));
    all.addEventListener('click', () => zoom(0, series.values.length - 1));
    newest.addEventListener('click', () => zoom(series.values.length - 50, series.values.length - 1));
    if (series.values.length > 1) render();
    else tools.remove();
  };

  const inlined = document.getElementById('series');
  if (inlined) {
    const data = JSON.parse(inlined.textContent);
    wanted.set('runs/' + data.host, [(runs) => document.querySelectorAll('.metric').forEach((section, i) => trend(section, data.series[i], runs))]);
  }

  const form = document.getElementById('compare');
  if (!form) return;
  const numbers = document.getElementById('numbers'), between = document.getElementById('between'), output = form.querySelector('output');
  const fileOf = (host, name) => 'host/' + host + '/' + name + '.js';
  let rows = [], turn = 0;
  // fill lists the runs of a host, the newest first, and chooses one of them.
  const fill = async (side, chosen, back) => {
    const host = form['host' + side].value, select = form['run' + side];
    const runs = await load('runs/' + host, fileOf(host, 'runs'));
    if (form['host' + side].value !== host) return;
    select.replaceChildren(...runs.slice().reverse().map((r) => element('option', day(r) + ' ' + r[1].slice(0, 12), {value: r[2]})));
    select.value = chosen && runs.some((r) => r[2] === chosen) ? chosen : (runs[runs.length - 1 - back] || runs[0] || ['', '', ''])[2];
  };
  const side = async (s) => {
    const host = form['host' + s].value, run = form['run' + s].value;
    if (!run) return {cells: [], values: [], host};
    const [cells, values, runs] = await Promise.all([load('cells/' + host, fileOf(host, 'cells')), load('values/' + host + '/' + run, fileOf(host, 'runs/' + run)), load('runs/' + host, fileOf(host, 'runs'))]);
    return {cells, values, host, run: runs.find((r) => r[2] === run)};
  };
  const join = (a, b) => {
    const key = (c) => JSON.stringify([c.cell, c.metric, c.unit, c.better]), found = new Map();
    a.cells.forEach((c, i) => { if (a.values[i] !== null) found.set(key(c), {c, a: a.values[i], b: null}); });
    b.cells.forEach((c, i) => {
      if (b.values[i] === null) return;
      const row = found.get(key(c)) || {c, a: null, b: null};
      row.b = b.values[i];
      found.set(key(c), row);
    });
    return Array.from(found.values(), (row) => {
      row.change = row.a > 0 && row.b !== null ? row.b / row.a - 1 : null;
      row.gain = row.change === null ? 0 : (row.c.better === 'lower' ? -row.change : row.change);
      return row;
    });
  };
  // changed is a change in percent and what it means: what is shown as none is neither better nor worse.
  const changed = ({change, gain}) => {
    const size = Math.abs(100 * change).toFixed(1), word = size === '0.0' ? '' : gain > 0 ? 'better' : 'worse';
    return element('span', (word ? (change < 0 ? '-' : '+') : '') + size + ' %' + (word && ' (' + word + ')'), {class: word});
  };
  const show = () => {
    const words = form.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const orders = {worst: (x, y) => x.gain - y.gain, best: (x, y) => y.gain - x.gain, name: (x, y) => (x.c.cell < y.c.cell ? -1 : x.c.cell > y.c.cell ? 1 : 0)};
    const kept = rows.filter((r) => words.every((w) => (r.c.cell + ' ' + r.c.metric).toLowerCase().includes(w))).sort(orders[form.sort.value]);
    const most = 500;
    numbers.replaceChildren(...kept.slice(0, most).map((r) => {
      const tr = element('tr'), cell = (heading, value, attributes) => {
        const td = element('td', undefined, {'data-th': heading, ...attributes});
        td.append(value);
        tr.append(td);
      };
      cell('Cell', element('a', r.c.cell, {href: r.c.page}));
      cell('Metric', r.c.metric);
      cell('A', digits(r.a) + ' ' + r.c.unit, {class: 'n'});
      cell('B', digits(r.b) + ' ' + r.c.unit, {class: 'n'});
      cell('Change', r.change === null ? '' : changed(r), {class: 'n'});
      return tr;
    }));
    output.textContent = Math.min(kept.length, most) + ' of ' + rows.length + ' shown';
    const chosen = new URLSearchParams({a: form.hostA.value + '/' + form.runA.value, b: form.hostB.value + '/' + form.runB.value, q: form.q.value});
    history.replaceState(null, '', '#' + chosen);
  };
  const compare = async () => {
    const mine = ++turn;
    try {
      const [a, b] = await Promise.all([side('A'), side('B')]);
      if (mine !== turn) return;
      rows = join(a, b);
      between.replaceChildren();
      if (a.run && b.run && safe(a.run[1]) && safe(b.run[1]) && a.run[1] !== b.run[1]) {
        between.append('Commits between: ', link(a.run[1].slice(0, 12) + '…' + b.run[1].slice(0, 12), '/compare/' + a.run[1] + '...' + b.run[1]));
      }
      show();
    } catch (problem) {
      output.textContent = problem.message;
    }
  };
  const begin = async () => {
    const chosen = new URLSearchParams(location.hash.slice(1));
    for (const [s, back] of [['A', 1], ['B', 0]]) {
      const [host, run] = (chosen.get(s.toLowerCase()) || '').split('/');
      if (Array.from(form['host' + s].options).some((o) => o.value === host)) form['host' + s].value = host;
      await fill(s, run, back);
    }
    form.q.value = chosen.get('q') || '';
    form.hidden = false;
    await compare();
  };
  for (const s of ['A', 'B']) {
    form['host' + s].addEventListener('change', async () => { await fill(s, '', 0); compare(); });
    form['run' + s].addEventListener('change', compare);
  }
  form.q.addEventListener('input', show);
  form.sort.addEventListener('change', show);
  form.addEventListener('submit', (e) => e.preventDefault());
  begin().catch((problem) => { form.hidden = false; output.textContent = problem.message; });
})();
