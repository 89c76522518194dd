import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withFault } from './fault.ts';
import { FAULTS } from './faults/index.ts';

describe('the list of faults', () => {
  it('has names that differ', () => {
    const named = FAULTS.map(({ name, file }) => `${name}, ${file}`);
    expect(new Set(named).size).toBe(named.length);
  });

  it('edits what is there, once', () => {
    const misplaced = FAULTS.flatMap((fault) => {
      try {
        withFault(readFileSync(fault.file, 'utf8'), fault);
        return [];
      } catch (error) {
        return [String(error)];
      }
    });
    expect(misplaced).toEqual([]);
  });

  it('names tests that exist', () => {
    const contracts = globSync('test/contracts/*.ts').map((file) => readFileSync(file, 'utf8'));
    for (const { name, tests } of FAULTS) {
      for (const [file, title] of Object.entries(tests)) {
        expect(existsSync(file), `${name}: ${file}`).toBe(true);
        const texts = [readFileSync(file, 'utf8'), ...contracts];
        expect(
          texts.some((text) => title !== '' && text.includes(title)),
          `${name}: ${title}`,
        ).toBe(true);
      }
    }
  });
});

it('an edit whose place is gone, or stands twice, is refused', () => {
  const fault = { name: 'x', file: 'a.ts', text: 'one', replacement: '$&', tests: {} };
  expect(withFault('one two', fault)).toBe('$& two');
  expect(() => withFault('two', fault)).toThrow('a.ts has 0 times');
  expect(() => withFault('one one', fault)).toThrow('a.ts has 2 times');
});
