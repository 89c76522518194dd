/** Images that services put into URLs and texts. */

const DATA_URL = /^data:(image\/[\w.+-]{1,40});base64,([A-Za-z0-9+/=]+)$/;

/** Returns the image of a data URL, with its bytes in base64. */
export function imageInDataUrl(url: unknown): { mimeType: string; data: string } | undefined {
  const [, mimeType, data] = (typeof url === 'string' && DATA_URL.exec(url)) || [];
  return mimeType === undefined || data === undefined ? undefined : { mimeType, data };
}

/** Returns the addresses of the images in a Markdown text: `![a fox](https://…)`. */
export function addressesInMarkdown(text: string): string[] {
  return text
    .split('![')
    .slice(1)
    .flatMap((rest) => {
      const start = rest.indexOf('](');
      const end = rest.indexOf(')', start);
      return start < 0 || end < 0 ? [] : rest.slice(start + 2, end).trim();
    });
}

const ADDRESS = '](data:image/';
/** Its beginnings, the longest first. */
const STARTS = Array.from({ length: ADDRESS.length - 1 }, (_, index) => ADDRESS.slice(0, -1 - index));
/** `![a fox`, with a short name. The sign before it may have been shown already. */
const NAME = /!?(?:\[[^[\]\n]{0,100})?$/;
const LONGEST_NAME = 102;

/** Separates Markdown images with data URLs from a text whose fragments may cut them. */
export function createImageSplitter() {
  /** The start of what may be an image. */
  let pending = '';
  /** The fragments of an image's address. */
  let address: string[] | undefined;

  /** Returns the text before the next image, and what follows the beginning of its address. */
  function takeText(text: string): { readonly text: string; readonly rest: string } {
    for (let at = text.indexOf(ADDRESS); at >= 0; at = text.indexOf(ADDRESS, at + 1)) {
      const name = nameBefore(text, at);
      if (!name.includes('[')) continue;
      address = [ADDRESS.slice(2)];
      return { text: text.slice(0, at - name.length), rest: text.slice(at + ADDRESS.length) };
    }
    const end = text.length - lengthOfStart(text);
    pending = nameBefore(text, end) + text.slice(end);
    return { text: text.slice(0, text.length - pending.length), rest: '' };
  }

  return {
    /** Returns texts, and the addresses of images. */
    add(fragment: string): ({ readonly text: string } | { readonly address: string })[] {
      const found: ({ readonly text: string } | { readonly address: string })[] = [];
      let rest = pending + fragment;
      pending = '';
      while (rest !== '') {
        if (address === undefined) {
          const next = takeText(rest);
          if (next.text !== '') found.push({ text: next.text });
          rest = next.rest;
          continue;
        }
        const end = rest.indexOf(')');
        address.push(end < 0 ? rest : rest.slice(0, end));
        if (end < 0) break;
        found.push({ address: address.join('') });
        address = undefined;
        rest = rest.slice(end + 1);
      }
      return found;
    },
    /** Returns what is left at the end: text, or an image that is cut off. */
    end(): ({ readonly text: string } | { readonly address: string })[] {
      const left = address ? [{ address: 'cut off' }] : pending === '' ? [] : [{ text: pending }];
      pending = '';
      address = undefined;
      return left;
    },
  };
}

const nameBefore = (text: string, at: number): string =>
  NAME.exec(text.slice(Math.max(0, at - LONGEST_NAME), at))?.[0] ?? '';

/** Length of the start of an address at the end of a text. */
const lengthOfStart = (text: string): number => STARTS.find((start) => text.endsWith(start))?.length ?? 0;
