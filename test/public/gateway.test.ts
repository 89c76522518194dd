import { describe } from 'vitest';
import { openGateway } from './services.ts';
import { describeServices } from './suite.ts';

describe('with a gateway', () => describeServices(openGateway));
