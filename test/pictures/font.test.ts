import { expect, it } from 'vitest';
import { readFont } from './main.ts';

it('says what to install if the terminal font is missing', async () => {
  await expect(readFont('/nowhere/mono.ttf')).rejects.toThrow(
    /\/nowhere\/mono\.ttf.*install fonts-dejavu-core/,
  );
});
