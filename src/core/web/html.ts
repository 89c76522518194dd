/** HTML as a template: every value is escaped unless it is HTML itself, so that no text of a person becomes markup. */

/** Made by {@link html} alone. */
export interface Html {
  readonly markup: string;
}

type Value = Html | string | number | false | undefined | readonly Value[];

export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const parts = strings.flatMap((text, index) => [
    text,
    index < values.length ? rendered(values[index]) : '',
  ]);
  return { markup: parts.join('') };
}

/** False and undefined are nothing, so that a part can be left out by a condition. */
function rendered(value: Value): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value));
  return 'markup' in value ? value.markup : value.map(rendered).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.toWellFormed().replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
