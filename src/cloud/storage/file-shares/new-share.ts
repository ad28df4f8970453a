import { addressOrRange } from '../../../lib/cidr.ts';
import { type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { tagsOf } from '../../../lib/legacy-metadata.ts';
import type { Region } from '../../ground/catalog/service.ts';
import { type CreateFileShare, type FileShareType, typeNamed, type VastSettings } from './schema.ts';

const OWN_FIELDS = { standard: ['network', 'access'], vast: ['share_settings'] } as const;

export interface NewShare {
  name: string;
  typeName: FileShareType;
  sizeGib: number;
  settings: VastSettings | undefined;
  network: { networkId: string; subnetId: string | undefined } | undefined;
  access: { ip_address: string; access_mode: 'ro' | 'rw' }[];
  tags: Record<string, string>;
}

/**
 * Returns the share that a request asks for, with defaults filled in.
 * @throws InvalidError when the region has no shares of the type, or fields are missing or belong to the other type
 */
export function newShare(request: CreateFileShare, region: Region): NewShare {
  const typeName = typeOf(request, region);
  const tags = tagsOf(request);
  const { access, problems: accessProblems } = canonicalAccess(request.access ?? []);
  const problems = [...formProblems(request, typeName), ...accessProblems];
  if (problems.length > 0) throw new InvalidError(problems);
  const { share_settings: settings = {}, network } = request;
  return {
    name: request.name,
    typeName,
    sizeGib: request.size,
    settings:
      typeName === 'vast'
        ? {
            rootSquash: settings.root_squash ?? true,
            pathLength: settings.path_length ?? null,
            allowedCharacters: settings.allowed_characters ?? null,
          }
        : undefined,
    network: network && {
      networkId: network.network_id.toLowerCase(),
      subnetId: network.subnet_id?.toLowerCase(),
    },
    access,
    tags,
  };
}

function typeOf(request: CreateFileShare, region: Region): FileShareType {
  const offered = region.file_share_types ?? [];
  const typeName = typeNamed(request) ?? typeMeant(request, offered);
  if (offered.includes(typeName)) return typeName;
  const message =
    offered.length === 0
      ? `Region ${region.display_name} doesn't offer file shares; choose another region.`
      : `Region ${region.display_name} doesn't offer ${typeName} shares; it offers: ${offered.join(', ')}.`;
  throw new InvalidError([{ field: 'type_name', message }]);
}

/** Returns the type if none is named: `standard`, unless neither the request nor the region fits that type. */
function typeMeant(request: CreateFileShare, offered: readonly FileShareType[]): FileShareType {
  if (request.network || request.access) return 'standard';
  if (request.share_settings) return 'vast';
  return offered.includes('standard') ? 'standard' : 'vast';
}

function formProblems(request: CreateFileShare, typeName: FileShareType): FieldProblem[] {
  const other = typeName === 'vast' ? 'standard' : 'vast';
  const problems: FieldProblem[] = OWN_FIELDS[other]
    .filter((field) => request[field] !== undefined)
    .map((field) => ({
      field,
      message: `Is only allowed for a ${other} share; leave it out for a ${typeName} share.`,
    }));
  if (typeName === 'standard' && !request.network) {
    problems.push({ field: 'network', message: 'Is required for a standard share: send its network_id.' });
  }
  return problems;
}

function canonicalAccess(given: NewShare['access']): {
  access: NewShare['access'];
  problems: FieldProblem[];
} {
  const access: NewShare['access'] = [];
  const problems: FieldProblem[] = [];
  for (const [index, rule] of given.entries()) {
    const field = `access.${index}.ip_address`;
    const found = addressOrRange(rule.ip_address);
    if ('fault' in found) problems.push({ field, message: found.fault });
    else if (access.some((other) => other.ip_address === found.address)) {
      problems.push({ field, message: `Is a duplicate of ${found.address}; send each address once.` });
    } else {
      access.push({ ...rule, ip_address: found.address });
    }
  }
  return { access, problems };
}
