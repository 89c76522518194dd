import { expect, it } from 'vitest';
import { readFont } from './main.ts';

it('a machine without the font of the terminal is told what to install', async () => {
  await expect(readFont('/nowhere/mono.ttf')).rejects.toThrow(
    /\/nowhere\/mono\.ttf.*install fonts-dejavu-core/,
  );
});
