/** A chart and tables, in the colours of the page. */
import { html } from 'htm/preact/standalone';

/** @import { BrowserMessage } from '../../../core/web/browser-chat.ts' */
/** @import { Chart as ChartData, Table as TableData } from '../../../core/message.ts' */

/** Size of the drawing, in the units of its view box. */
const WIDTH = 640;
const HEIGHT = 160;
/** Space that a bar leaves to its neighbours. */
const GAP = 0.25;
/** Colours in the style sheet. */
const COLOURS = 6;

/** @param {{ data: NonNullable<BrowserMessage['data']> }} props */
export const Data = ({ data: { chart, tables } }) => html`
  ${chart && html`<${Chart} chart=${chart} />`}
  ${tables.length > 0 && html`<div class="tables">${tables.map((table) => html`<${Table} key=${table.caption} table=${table} />`)}</div>`}
`;

/** Stacked bars. The tables have the same numbers, for screen readers. @param {{ chart: ChartData }} props */
function Chart({ chart: { title, categories, series } }) {
  const totals = categories.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const most = Math.max(1, ...totals);
  const step = WIDTH / Math.max(1, categories.length);
  const bars = categories.flatMap((category, at) => {
    let top = HEIGHT;
    return series.map(({ name, values }, index) => {
      const height = (HEIGHT * (values[at] ?? 0)) / most;
      top -= height;
      return html`<rect key=${`${category} ${name}`} class=${`series-${index % COLOURS}`} x=${(at + GAP / 2) * step} y=${top} width=${(1 - GAP) * step} height=${height} />`;
    });
  });
  return html`<figure class="chart">
    <figcaption class="small">${title}</figcaption>
    <div class="plot">
      <span class="small">${most}</span>
      <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${title}>${bars}</svg>
      <span class="small axis"><span>${categories.at(0)}</span><span>${categories.length > 1 ? categories.at(-1) : ''}</span></span>
    </div>
    <ul class="legend small">${series.map(({ name }, index) => html`<li key=${name}><span class=${`key series-${index % COLOURS}`}></span>${name}</li>`)}</ul>
  </figure>`;
}

/** @param {{ table: TableData }} props */
const Table = ({ table: { caption, columns, rows } }) =>
  html`<div class="table" tabindex="0" role="group" aria-label=${caption}>
    <table>
      <caption>${caption}</caption>
      <thead><tr>${columns.map((column) => html`<th key=${column} scope="col">${column}</th>`)}</tr></thead>
      <tbody>
        ${rows.map((row, at) => html`<tr key=${at}>${row.map((cell, index) => html`<td key=${index} class=${typeof cell === 'number' ? 'number' : ''} dir="auto">${cell}</td>`)}</tr>`)}
      </tbody>
    </table>
  </div>`;
