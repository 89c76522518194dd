import { isObject } from './json.ts';

/** The most of a raw body that an error keeps, in characters. */
const LONGEST_KEPT_BODY = 2_048;
const ADDRESS_FIELDS = new Set(['callBackUrl', 'uploadUrl', 'img_url', 'audio_url']);

export type Redact = (text: string) => string;

/**
 * Takes out of a gateway's text what must not be logged: the API key, the signed addresses that the request itself
 * carried, and the query of every other address (signatures stand there).
 */
export function redactor(apiKey: string, requestBody: unknown): Redact {
  const secrets = [apiKey, ...signedAddresses(requestBody)];
  return (text) => {
    let clean = text;
    for (const secret of secrets) {
      clean = clean.replaceAll(secret, '[removed]').replaceAll(secret.replaceAll('/', '\\/'), '[removed]');
    }
    return clean.replace(/(https?:[\\/]{2,8}[^\s"'<>?]{1,2000})\?[^\s"'<>]*/gi, '$1?[removed]');
  };
}

function signedAddresses(requestBody: unknown): string[] {
  if (!isObject(requestBody)) return [];
  const places = [requestBody, requestBody.input].filter(isObject);
  return places.flatMap((place) =>
    Object.entries(place).flatMap(([name, value]) =>
      ADDRESS_FIELDS.has(name) && typeof value === 'string' ? [value] : [],
    ),
  );
}

/** A raw body as an error keeps it: redacted before it is cut, so that no secret is cut in two and missed. */
export function keptBody(redact: Redact, text: string): string | undefined {
  if (text === '') return undefined;
  return redact(text.slice(0, 4 * LONGEST_KEPT_BODY)).slice(0, LONGEST_KEPT_BODY);
}
