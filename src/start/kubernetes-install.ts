import { installedVersions } from '../backends/hosted/programs/folders.ts';
import { ABOUT_KWOK, installVersion } from '../backends/hosted/programs/install.ts';
import { MAKERS } from '../backends/makers.ts';
import { loadCatalog } from '../cloud/ground/catalog/service.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { Command } from './command.ts';

export const kubernetesInstall: Command = {
  summary: 'install the programs of a version of Kubernetes for hosted clusters (300 MB)',
  help: `  --version v1.34.4   which one; without it, the command lists those of the catalogue
  --kwok FILE         a kwok on this machine
  --from WHERE        a folder, or the address of one, to take the programs from instead of their official releases:
                      with a folder for the version, such as v1.34.4, that has etcd, kube-apiserver,
                      kube-controller-manager, kube-scheduler, SHA256SUMS and perhaps kwok, as
                      TRADEWIND_KUBERNETES_DIR of another machine has it. Nothing else is fetched

${ABOUT_KWOK}.
`,
  options: { version: { type: 'string' }, kwok: { type: 'string' }, from: { type: 'string' } },
  async run({ config, options: { version, kwok, from }, stop }) {
    if (typeof version !== 'string' || !/^v\d+\.\d+\.\d+$/.test(version)) {
      const { kubernetesVersions } = await loadCatalog(config.catalogDir, MAKERS);
      throw new OperatorError(
        `Say which version, such as --version v1.34.4. The catalogue offers ${kubernetesVersions.join(', ')}; installed: ${installedVersions(config.kubernetesDir).join(', ') || 'none'}.`,
      );
    }
    const sources = {
      ...config.kubernetesSources,
      ...(typeof kwok === 'string' && { kwok }),
      ...(typeof from === 'string' && { from }),
    };
    const say = (line: string) => void process.stdout.write(`${line}\n`);
    try {
      await installVersion(version, config.kubernetesDir, sources, { say, signal: stop });
    } catch (error) {
      const { message, cause } = error as Error;
      const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
      throw new OperatorError(`${why}. The next attempt goes on from here.`);
    }
    return 0;
  },
};
