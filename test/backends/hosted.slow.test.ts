import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe } from 'vitest';
import { createHostedBackend } from '../../kubernetes/hosted/backend.ts';
import { KUBERNETES_DIR, VERSIONS, whyNoKubernetes } from '../support/kubernetes.ts';
import { reservePorts } from '../support/ports.ts';
import { conformance } from './conformance.ts';

const ports = await reservePorts();

describe.skipIf(whyNoKubernetes)('with real control planes', { timeout: 600_000 }, () => {
  conformance(
    'the hosted backend',
    async () => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hosted-backend-'));
      return {
        kinds: ['cluster'],
        open: () =>
          createHostedBackend({
            clusters: path.join(folder, 'clusters'),
            programs: KUBERNETES_DIR,
            searchPath: process.env.PATH ?? '',
            address: '127.0.0.1',
            ports,
            memoryMib: 600,
            durable: false,
            platform: { autoscalerArguments: ['--cloud-provider=kwok'] },
            sizeOf: () => ({ vcpus: 2, ramMib: 4096 }),
          }),
        close: async () => fs.rmSync(folder, { recursive: true }),
      };
    },
    { kinds: ['cluster'], mostCalls: 1_000, versions: VERSIONS, sharing: true },
  );
});
