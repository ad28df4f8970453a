import { pino } from 'pino';
import type { Backends } from '../../src/backends/backends.ts';
import { buildPlatform } from '../../src/build-platform.ts';
import type { Catalog } from '../../src/cloud/ground/catalog/service.ts';
import type { Database } from '../../src/db/database.ts';
import type { Foundation } from '../../src/foundation.ts';
import { systemClock } from '../../src/lib/time.ts';
import type { Letterhead } from '../../src/mail/sending/queue.ts';
import type { Platform } from '../../src/platform.ts';
import type { Secrets } from '../../src/secrets/secrets.ts';

/** Returns a platform for use cases that are called without a server. Its catalogue is empty but for what is given. */
export function platformOn(
  database: Database,
  { catalog, ...given }: Partial<Omit<Foundation, 'catalog'>> & { catalog?: Partial<Catalog> } = {},
): Platform {
  return buildPlatform({
    database,
    changes: { connected: () => false, on: () => {}, close: async () => {} },
    catalog: { regions: new Map(), features: new Map(), ...catalog } as Catalog,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    backends: {} as Backends,
    secrets: {} as Secrets,
    letterhead: () => ({}) as Letterhead,
    media: {} as Foundation['media'],
    inspection: {} as Foundation['inspection'],
    ...given,
  });
}
