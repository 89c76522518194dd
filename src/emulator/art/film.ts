import { registerAacEncoder } from '@mediabunny/aac-encoder';
import h264 from 'h264-mp4-encoder';
import {
  ALL_FORMATS,
  AudioSample,
  AudioSampleSource,
  BufferSource,
  BufferTarget,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import { type Pcm, sampleRate } from '../synth/recipe.ts';
import { type Canvas, createCanvas } from './canvas.ts';

/** A film to be shot: even width and height in pixels, length in seconds, frames a second, and its sound if any. */
export interface Film {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly frameRate: number;
  readonly sound: Pcm | null;
  paint(canvas: Canvas, time: number): void;
}

/** Shoots a film as an MP4 with H.264 picture and, when it has sound, an AAC track of the same length. */
export async function shootFilm(film: Film): Promise<Buffer> {
  const picture = await encodePicture(film);
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(picture) });
  const track = await input.getPrimaryVideoTrack();
  const decoderConfig = await track?.getDecoderConfig();
  if (track === null || track.codec === null || !decoderConfig)
    throw new Error('the H.264 encoder made no video track');

  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'in-memory' }), target });
  const videoSource = new EncodedVideoPacketSource(track.codec);
  output.addVideoTrack(videoSource, { frameRate: film.frameRate });
  const audioSource = film.sound === null ? null : addAudio(output);
  await output.start();
  for await (const packet of new EncodedPacketSink(track).packets())
    await videoSource.add(packet, { decoderConfig });
  if (audioSource !== null && film.sound !== null) await fillAudio(audioSource, film.sound, film.seconds);
  await output.finalize();
  if (target.buffer === null) throw new Error('the MP4 writer made no file');
  return Buffer.from(target.buffer);
}

async function encodePicture(film: Film): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = await h264.createH264MP4Encoder();
  encoder.width = film.width;
  encoder.height = film.height;
  encoder.frameRate = film.frameRate;
  encoder.speed = 10;
  encoder.quantizationParameter = 26;
  encoder.groupOfPictures = Math.ceil(film.frameRate) * 2;
  encoder.initialize();
  const canvas = createCanvas(film.width, film.height);
  const frames = Math.max(1, Math.round(film.seconds * film.frameRate));
  for (let frame = 0; frame < frames; frame++) {
    film.paint(canvas, frame / film.frameRate);
    encoder.addFrameRgba(canvas.pixels);
  }
  encoder.finalize();
  const file = Uint8Array.from(encoder.FS.readFile(encoder.outputFilename));
  encoder.delete();
  return file;
}

function addAudio(output: Output): AudioSampleSource {
  registerAacEncoder();
  const source = new AudioSampleSource({ codec: 'aac', bitrate: 128_000 });
  output.addAudioTrack(source);
  return source;
}

/** Adds the sound, cut or filled with silence to the film's length. */
async function fillAudio(source: AudioSampleSource, sound: Pcm, seconds: number): Promise<void> {
  const frames = Math.floor(seconds * sampleRate);
  const data = new Float32Array(frames * 2);
  const heard = Math.min(frames, sound.left.length);
  const fade = sampleRate / 4;
  for (let index = 0; index < heard; index++) {
    const level = Math.min(1, (frames - index) / fade) / 32768;
    data[2 * index] = (sound.left[index] ?? 0) * level;
    data[2 * index + 1] = (sound.right[index] ?? 0) * level;
  }
  const sample = new AudioSample({ data, format: 'f32', numberOfChannels: 2, sampleRate, timestamp: 0 });
  await source.add(sample);
  sample.close();
}
