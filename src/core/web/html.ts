/** HTML templates that escape every value except HTML, so that text from people never becomes markup. */

/** Created by {@link html} only. */
export interface Html {
  readonly markup: string;
}

type Value = Html | string | number | false | undefined | readonly Value[];

export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const parts = strings.flatMap((text, index) => [text, index < values.length ? render(values[index]) : '']);
  return { markup: parts.join('') };
}

/** Renders false and undefined as an empty string, for conditional parts. */
function render(value: Value): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  return 'markup' in value ? value.markup : value.map(render).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.toWellFormed().replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
