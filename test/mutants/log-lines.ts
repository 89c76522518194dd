/** Keeps Stryker from breaking lines of the log: what they say is for people. */

interface NodePath {
  readonly node: {
    readonly type: string;
    readonly callee?: { readonly type: string; readonly property?: { readonly name?: string } };
  };
}

const LEVELS = new Set(['debug', 'info', 'warn', 'error']);

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'log-lines',
    value: {
      shouldIgnore({ node: { type, callee } }: NodePath): string | undefined {
        const isLog = type === 'CallExpression' && LEVELS.has(callee?.property?.name ?? '');
        return isLog ? 'a line of the log' : undefined;
      },
    },
  },
];
