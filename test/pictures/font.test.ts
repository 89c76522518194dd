import { expect, it } from 'vitest';
import { readFont } from './main.ts';

it('names the package to install if a font is missing', async () => {
  await expect(readFont('/nowhere/mono.ttf', 'fonts-dejavu-core')).rejects.toThrow(
    /\/nowhere\/mono\.ttf.*install fonts-dejavu-core/,
  );
});
