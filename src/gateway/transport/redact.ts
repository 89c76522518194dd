/** Removes secrets from the gateway's messages. */
import { isObject } from './json.ts';

const ADDRESS_FIELDS = new Set(['callBackUrl', 'uploadUrl', 'img_url', 'audio_url']);
/** In characters. */
const LONGEST_MESSAGE = 500;

export type Redact = (text: string) => string;

/**
 * Shortens a gateway's text for the log and removes secrets: the API key, the signed URLs of the request (also escaped for
 * JSON and URLs), and the query of every other URL, which may contain a signature.
 */
export function redactor(apiKey: string | undefined, requestBody: unknown): Redact {
  const secrets = [...(apiKey === undefined ? [] : [apiKey]), ...signedAddresses(requestBody)].flatMap(
    (secret) => [secret, secret.replaceAll('/', '\\/'), encodeURIComponent(secret)],
  );
  // Cut last, so that no partial secret remains at the end.
  return (text) =>
    secrets
      .reduce((rest, secret) => rest.replaceAll(secret, '[removed]'), text)
      .replace(/[^\s"'<>]+/g, withoutQuery)
      .slice(0, LONGEST_MESSAGE);
}

/** Removes the query of the URL in a run of characters. */
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
