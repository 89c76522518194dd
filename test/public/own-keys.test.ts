import { describe } from 'vitest';
import { openPublicServices } from './services.ts';
import { describeServices } from './suite.ts';

describe('with a key for each public service', () => describeServices(openPublicServices));
