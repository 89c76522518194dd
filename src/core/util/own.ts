/** Reads a property by a name from outside; never one of the prototype, such as `constructor`. */
export const own = <Value>(
  record: Readonly<Record<string, Value>> | undefined,
  name: string,
): Value | undefined => (record && Object.hasOwn(record, name) ? record[name] : undefined);
