import type { WingTasks } from '../ground/tasks/behind/service.ts';
import { deleteFileShare, fileShareDeletion } from './file-shares/service.ts';
import { fileShareTasks } from './file-shares/tasks.ts';
import { deleteImage, imageDeletion } from './images/service.ts';
import { imageTasks } from './images/tasks.ts';
import { deleteVolume, volumeDeletion } from './volumes/service.ts';
import { deleteSnapshot, snapshotDeletion, snapshotTasks } from './volumes/snapshots/service.ts';
import { volumeTasks } from './volumes/tasks.ts';

export const STORAGE_TASKS: WingTasks = {
  ends: () => [...volumeTasks(), ...snapshotTasks(), ...imageTasks(), ...fileShareTasks()],
  deletions: [fileShareDeletion, imageDeletion, snapshotDeletion, volumeDeletion],
  removals: {
    file_shares: deleteFileShare,
    image: deleteImage,
    volume: (on, scope, id) => deleteVolume(on, scope, id, []),
    snapshot: deleteSnapshot,
  },
};
