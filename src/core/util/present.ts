type Present<Value> = {
  readonly [Name in keyof Value as undefined extends Value[Name] ? never : Name]: Value[Name];
} & {
  readonly [Name in keyof Value as undefined extends Value[Name] ? Name : never]?: Exclude<
    Value[Name],
    undefined
  >;
};

/** Drops properties that are undefined: exactOptionalPropertyTypes distinguishes them from absent ones. */
export function present<Value extends object>(value: Value): Present<Value> {
  // Sound because only properties that Present makes optional are dropped.
  return Object.fromEntries(
    Object.entries(value).filter(([, property]) => property !== undefined),
  ) as Present<Value>;
}
