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
