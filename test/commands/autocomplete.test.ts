import { expect, test } from 'vitest';
import { commands } from '../../commands/index.ts';

test('exactly the options declared with autocomplete have completions', () => {
  for (const { name, subcommands = {}, ...command } of commands) {
    for (const [part, { options, autocomplete = {} }] of [
      ['', command] as const,
      ...Object.entries(subcommands),
    ]) {
      const declared = Object.entries(options).flatMap(([option, declaration]) =>
        declaration.type === 'text' && declaration.autocomplete ? [option] : [],
      );
      expect(Object.keys(autocomplete).toSorted(), `/${name} ${part}`).toEqual(declared.toSorted());
    }
  }
});
