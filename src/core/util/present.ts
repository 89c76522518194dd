type Present<Given> = {
  readonly [Name in keyof Given as undefined extends Given[Name] ? never : Name]: Given[Name];
} & {
  readonly [Name in keyof Given as undefined extends Given[Name] ? Name : never]?: Exclude<
    Given[Name],
    undefined
  >;
};

/** Without the properties that are undefined: with exactOptionalPropertyTypes an absent property is not undefined. */
export function present<Given extends object>(given: Given): Present<Given> {
  // Only properties that Present makes optional are left out.
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as Present<Given>;
}
