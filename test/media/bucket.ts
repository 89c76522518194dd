import type { AddressInfo } from 'node:net';
import S3rver from 's3rver';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from './helpers.ts';

export interface BucketServerOptions {
  /** Where it keeps its files; a folder of this test's own if left out. */
  directory?: string;
  port?: number;
}

/** A real S3-compatible server on loopback that ends with the test. Resolves to its port. */
export async function startBucket(name: string, options: BucketServerOptions = {}): Promise<number> {
  const { directory = await temporaryFolder(), port = 0 } = options;
  const configureBuckets = [{ name, configs: [] }];
  const server = new S3rver({ address: '127.0.0.1', port, silent: true, directory, configureBuckets });
  const address: AddressInfo = await server.run();
  onTestFinished(() => server.close());
  return address.port;
}
