import { expect, test } from 'vitest';
import { MissingPackagesError, requirePackages } from '../../src/emulator/studio/studio.ts';

test('an installation without development packages gets the missing packages and the fix', () => {
  const resolve = (name: string): string => {
    if (name === 'mediabunny') return `file:///node_modules/${name}/index.js`;
    throw new Error(`Cannot find package '${name}'`);
  };
  expect(() => requirePackages(resolve)).toThrow(MissingPackagesError);
  expect(() => requirePackages(resolve)).toThrow(
    'The gateway emulator needs @mediabunny/aac-encoder, h264-mp4-encoder, mpg123-decoder, wasm-media-encoders, ' +
      'which a production install leaves out. Run `npm ci` without `--omit=dev`, ' +
      'or set GATEWAY_BASE_URL and GATEWAY_API_KEY.',
  );
  expect(() => requirePackages((name) => `file:///node_modules/${name}/index.js`)).not.toThrow();
});
