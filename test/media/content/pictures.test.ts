import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createPictures } from '../../../src/media/content/pictures.ts';
import { emptyPng } from '../empty-png.ts';

const pictures = createPictures();
const fitPicture = (bytes: Uint8Array) => pictures.fit(bytes, 'ada');
const cleanPicture = (bytes: Uint8Array) => pictures.clean(bytes, 'ada');

const plain = (width: number, height: number, channels: 3 | 4 = 3) =>
  sharp({ create: { width, height, channels, background: { r: 200, g: 30, b: 60, alpha: 0.5 } } });

/** An image that no encoder compresses well. */
const noisy = (width: number, height: number) => {
  let state = 1;
  const bytes = Buffer.alloc(width * height * 3);
  for (let at = 0; at < bytes.length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return sharp(bytes, { raw: { width, height, channels: 3 } });
};

const formatOf = async (bytes: Uint8Array) => (await sharp(bytes).metadata()).format;

const refused = (code: string) => expect.objectContaining({ name: 'MediaError', code });

describe('an image that models accept', () => {
  it.each(['png', 'jpeg', 'webp'] as const)('is returned byte for byte: %s', async (format) => {
    const bytes = await plain(800, 600).toFormat(format).toBuffer();
    expect(await fitPicture(bytes)).toBe(bytes);
  });
});

/** EXIF as a phone writes it, with its position. */
const EXIF = {
  IFD0: { Make: 'Example Phone' },
  IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '52/1 31/1 0/1' },
};
const SECRETS = ['Example Phone', 'Exif', 'ada@home.example'];
const XMP = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>ada@home.example</a></x:xmpmeta>';

/** The largest difference between two colours at the same place. */
async function difference(one: Uint8Array, other: Uint8Array): Promise<number> {
  const [first, second] = await Promise.all(
    [one, other].map((bytes) =>
      sharp(bytes).autoOrient().toColourspace('srgb').removeAlpha().raw().toBuffer(),
    ),
  );
  expect(first?.byteLength).toBe(second?.byteLength);
  return Math.max(...(first ?? []).map((value, at) => Math.abs(value - (second?.[at] ?? 0))));
}

describe.each([
  ['for a model', fitPicture],
  ['for a video', cleanPicture],
])('an image %s', (_use, convert) => {
  it.each(['png', 'jpeg', 'webp', 'avif'] as const)(
    'loses its metadata but not its look: %s',
    async (format) => {
      const bytes = await sharp({
        create: { width: 64, height: 48, channels: 3, background: { r: 200, g: 30, b: 60 } },
      })
        .composite([{ input: await plain(20, 10).png().toBuffer(), left: 3, top: 5 }])
        .toFormat(format)
        .withExif(EXIF)
        .withXmp(XMP)
        .toBuffer();
      expect(bytes.includes('Example Phone')).toBe(true);
      const sent = Buffer.from(await convert(bytes));
      for (const secret of SECRETS) expect(sent.includes(secret), secret).toBe(false);
      expect(await difference(sent, bytes)).toBeLessThan(12);
      if (format !== 'avif') expect(await formatOf(sent)).toBe(format);
    },
  );

  it('stays upright without EXIF, which contained the rotation', async () => {
    const lying = await noisy(40, 20)
      .blur(8)
      .jpeg()
      .withExif(EXIF)
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const sent = await convert(lying);
    expect(await sharp(sent).metadata()).toMatchObject({ width: 20, height: 40 });
    expect(await difference(sent, lying)).toBeLessThan(20);
  });

  it('keeps its colours without the profile of its camera', async () => {
    const wide = await plain(32, 32).withIccProfile('p3').withExif(EXIF).jpeg().toBuffer();
    const sent = await convert(wide);
    expect(await difference(sent, wide)).toBeLessThan(12);
  });
});

it('keeps the size of an image for a video', async () => {
  const large = await plain(4000, 1000).jpeg().withExif(EXIF).toBuffer();
  expect(await sharp(await cleanPicture(large)).metadata()).toMatchObject({ width: 4000, height: 1000 });
});

describe('an image is converted', () => {
  it('to a longest edge of 1568 pixels in the same shape, if it is larger', async () => {
    const bytes = await fitPicture(await plain(4000, 1000).jpeg().toBuffer());
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 1568, height: 392, format: 'jpeg' });
  });

  it('to upright, if the camera was rotated', async () => {
    const lying = await plain(400, 200).jpeg().withMetadata({ orientation: 6 }).toBuffer();
    expect(await sharp(await fitPicture(lying)).metadata()).toMatchObject({
      width: 200,
      height: 400,
    });
  });

  it('to PNG if parts of it are transparent, and to JPEG if that would be too large', async () => {
    const light = await fitPicture(await plain(2000, 2000, 4).png().toBuffer());
    expect(await formatOf(light)).toBe('png');
    const heavy = await noisy(1500, 1500).ensureAlpha(0.5).png().toBuffer();
    expect(heavy.byteLength).toBeGreaterThan(3_750_000);
    const bytes = await fitPicture(heavy);
    expect(await formatOf(bytes)).toBe('jpeg');
    expect(bytes.byteLength).toBeLessThanOrEqual(3_750_000);
  });

  it('to its first frame if it is animated, and from types that models do not support', async () => {
    const frames = Buffer.concat([await plain(8, 8).raw().toBuffer(), Buffer.alloc(8 * 8 * 3)]);
    const moving = await sharp(frames, { raw: { width: 8, height: 16, channels: 3, pageHeight: 8 } })
      .gif({ delay: [100, 100] })
      .toBuffer();
    expect(await sharp(await fitPicture(moving)).metadata()).toMatchObject({ width: 8, height: 8 });
    const avif = await plain(64, 64).avif().toBuffer();
    expect(await formatOf(await fitPicture(avif))).toBe('jpeg');
    const print = await plain(64, 64).toColourspace('cmyk').jpeg().toBuffer();
    expect((await sharp(print).metadata()).space).toBe('cmyk');
    expect((await sharp(await fitPicture(print)).metadata()).space).toBe('srgb');
  });
});

describe('an image is refused', () => {
  it('if a small file unpacks to more pixels than the limit', async () => {
    const bomb = emptyPng(30_000, 30_000);
    expect(bomb.byteLength).toBeLessThan(2_000_000);
    const before = process.memoryUsage().rss;
    await expect(fitPicture(bomb)).rejects.toEqual(refused('too-large'));
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['words', Buffer.from('I am a picture, believe me.')],
    [
      'an SVG, which may hold anything',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
    ],
  ])('if it is %s', async (_name, bytes) => {
    await expect(fitPicture(bytes)).rejects.toEqual(refused('type'));
  });

  it.each(['jpeg', 'png', 'webp'] as const)('if its second half is missing: %s', async (format) => {
    const whole = await noisy(800, 600).toFormat(format).toBuffer();
    await expect(fitPicture(whole.subarray(0, whole.byteLength / 2))).rejects.toEqual(refused('type'));
  });

  it('if its end is missing and it has to be converted', async () => {
    const whole = await noisy(1800, 900).png().toBuffer();
    await expect(fitPicture(whole.subarray(0, whole.byteLength / 2))).rejects.toEqual(refused('type'));
  });
});

it.each(['fit', 'clean'] as const)('lets people take turns: %s', async (convert) => {
  const photo = await noisy(1200, 900).jpeg().withExif(EXIF).toBuffer();
  const order: string[] = [];
  const add = async (person: string) => {
    await pictures[convert](photo, person);
    order.push(person);
  };
  await Promise.all([...Array.from({ length: 12 }, () => add('ada')), add('bob')]);
  expect(order.indexOf('bob')).toBeLessThan(4);
});
