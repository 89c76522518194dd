import type { AddressInfo } from 'node:net';
import S3rver from 's3rver';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers.ts';

export interface BucketServerOptions {
  /** The folder of its files. */
  directory: string;
  port?: number;
}

export interface BucketServer {
  port: number;
  close(): Promise<void>;
}

/** A real S3-compatible server on loopback. Its key and secret are `S3RVER`. */
export async function runBucket(
  name: string,
  { directory, port = 0 }: BucketServerOptions,
): Promise<BucketServer> {
  const configureBuckets = [{ name, configs: [] }];
  const server = new S3rver({ address: '127.0.0.1', port, silent: true, directory, configureBuckets });
  const address: AddressInfo = await server.run();
  return { port: address.port, close: () => server.close() };
}

/** The same for one test. Resolves to its port. */
export async function startBucket(name: string, options: Partial<BucketServerOptions> = {}): Promise<number> {
  const directory = options.directory ?? (await temporaryFolder());
  const server = await runBucket(name, { ...options, directory });
  onTestFinished(() => server.close());
  return server.port;
}
