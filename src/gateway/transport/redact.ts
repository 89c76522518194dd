/** Takes secrets out of what a gateway says. */
import { isObject } from './json.ts';

const ADDRESS_FIELDS = new Set(['callBackUrl', 'uploadUrl', 'img_url', 'audio_url']);
/** Of what a gateway says, in characters. */
const LONGEST_MESSAGE = 500;

export type Redact = (text: string) => string;

/**
 * Cuts a gateway's text for the log, and takes out what must not be in it: the API key, the signed addresses that the
 * request itself carried, also as JSON and addresses escape them, and the query of every other address, which may hold a
 * signature.
 */
export function redactor(apiKey: string, requestBody: unknown): Redact {
  const secrets = [apiKey, ...signedAddresses(requestBody)].flatMap((secret) => [
    secret,
    secret.replaceAll('/', '\\/'),
    encodeURIComponent(secret),
  ]);
  // Cut last, so that no half of a secret is left at the end.
  return (text) =>
    secrets
      .reduce((rest, secret) => rest.replaceAll(secret, '[removed]'), text)
      .replace(/[^\s"'<>]+/g, withoutQuery)
      .slice(0, LONGEST_MESSAGE);
}

/** A run of characters without the query of the address in it. */
function withoutQuery(run: string): string {
  const address = run.search(/https?:[\\/]{2}/i);
  const query = address < 0 ? -1 : run.indexOf('?', address);
  return query < 0 ? run : `${run.slice(0, query)}?[removed]`;
}

function signedAddresses(requestBody: unknown): string[] {
  if (!isObject(requestBody)) return [];
  return [requestBody, requestBody.input]
    .filter(isObject)
    .flatMap((fields) =>
      Object.entries(fields).flatMap(([name, value]) =>
        ADDRESS_FIELDS.has(name) && typeof value === 'string' ? [value] : [],
      ),
    );
}
