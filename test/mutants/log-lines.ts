/** Keeps Stryker from breaking lines of the log: what they say is for people. */

/** Of Babel's syntax tree, as much as is read here. */
interface Node {
  readonly type: string;
  readonly callee?: { readonly property?: { readonly name?: string } };
  readonly expression?: Node;
}

const LEVELS = new Set(['debug', 'info', 'warn', 'error']);

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'log-lines',
    value: {
      shouldIgnore({ node }: { readonly node: Node }): string | undefined {
        const called = node.type === 'ExpressionStatement' ? node.expression : node;
        return LEVELS.has(called?.callee?.property?.name ?? '') ? 'a line of the log' : undefined;
      },
    },
  },
];
