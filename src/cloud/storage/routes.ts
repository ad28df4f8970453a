import type { Dialect } from '../../http/dialect.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { fileShareRoutes, shareAccessRoutes } from './file-shares/routes.ts';
import { imageRoutes } from './images/routes.ts';
import { volumeChangeRoutes } from './volumes/changes/routes.ts';
import { volumeRoutes } from './volumes/routes.ts';
import { snapshotScheduleRoutes } from './volumes/schedules/routes.ts';
import { snapshotRoutes } from './volumes/snapshots/routes.ts';

/** Registers the operations of the wing under one base address. */
export function registerStorageRoutes(app: Api, dialect: Dialect, on: Platform): void {
  volumeRoutes(app, dialect, on);
  volumeChangeRoutes(app, dialect, on);
  snapshotRoutes(app, dialect, on);
  imageRoutes(app, dialect, on);
  fileShareRoutes(app, dialect, on);
  shareAccessRoutes(app, on);
  snapshotScheduleRoutes(app, on);
}
