/*
 * The door of the Kubernetes backends: what makes clusters of processes on this machine (`hosted`) and through a management
 * cluster (`cluster-api`), and the commands that install their programs.
 */
export { clusterApi } from './cluster-api/maker.ts';
export { hosted } from './hosted/maker.ts';
export { hasKwok, installedVersions } from './hosted/programs/folders.ts';
export { ABOUT_KWOK, installVersion } from './hosted/programs/install.ts';
export { missingOf, notInstalled } from './hosted/programs/installed.ts';
