import { asText, fieldsOf, isObject, objectsIn } from './json.ts';
import { type Refusal, readRefusal } from './refusal.ts';

/** What stands around the result of a media route: usage, the request's id, and a refusal inside a good answer. */
export function readAround(value: unknown) {
  const root = fieldsOf(value);
  const requestId = root('requestId');
  const usage = root('usage') ?? fieldsOf(root('output', 'data'))('usage');
  const told = taskRefusal(value);
  const refusal = told.names.length > 0 || told.number !== undefined ? told : undefined;
  return { usage, requestId, refusal };
}

/** A failed task names its code and message in `output`, or in the entries of `output.results`. */
export function taskRefusal(value: unknown): Refusal {
  for (const { value: place } of objectsIn(value)) {
    const { code, message } = place;
    if (code === undefined || isObject(code) || isObject(message)) continue;
    const { number, names } = readRefusal({ code });
    if (names.length > 0 || (number !== undefined && number !== 200 && number !== 0))
      return readRefusal({ code, message });
  }
  const message = objectsIn(value)
    .map(({ fields }) => asText(fields('message', 'errorMessage', 'failReason'), 500))
    .find((text) => text !== undefined);
  return message === undefined ? { names: [] } : { names: [], message };
}
