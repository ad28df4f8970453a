import type { FieldProblem } from '../../lib/errors.ts';
import type { CreateInstance, NewInterface } from './schema.ts';

/** What can be refused without asking anybody: combinations, and what isn't offered. */
export function requestProblems(request: CreateInstance): FieldProblem[] {
  const problems = request.interfaces.flatMap((one, index) => interfaceProblems(one, `interfaces.${index}`));
  const complain = (field: string, message: string) => void problems.push({ field, message });
  request.volumes.forEach((volume, index) => {
    if (volume.source === 'apptemplate') {
      complain(`volumes.${index}.source`, 'Application templates are not offered; use an image.');
    }
  });
  if (request.name !== undefined && request.name_template !== undefined) {
    complain('name_template', 'Give name or name_template, not both.');
  }
  if (request.security_groups && request.interfaces.some((one) => one.security_groups)) {
    complain('security_groups', 'Give security groups here or per interface, not both.');
  }
  if (request.servergroup_id !== undefined) {
    complain('servergroup_id', 'Server groups are not offered; leave it out.');
  }
  if ((request.configuration ?? null) !== null) {
    complain('configuration', 'Goes with application templates, which are not offered; leave it out.');
  }
  if (request.allow_app_ports) {
    complain('allow_app_ports', 'Goes with application templates, which are not offered; leave it out.');
  }
  return problems;
}

/** `field` is where the request has it. */
export function interfaceProblems(given: NewInterface, field: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (given.type === 'reserved_fixed_ip') {
    const message = 'Reserved addresses are not offered yet; use external, subnet or any_subnet.';
    problems.push({ field: `${field}.type`, message });
  }
  if ('floating_ip' in given && given.floating_ip) {
    const message = 'Floating IPs are not offered yet; use an external interface for a public address.';
    problems.push({ field: `${field}.floating_ip`, message });
  }
  if ('ip_family' in given && (given.ip_family ?? 'ipv4') !== 'ipv4') {
    const message = 'No network here has IPv6 addresses; use ipv4 or leave it out.';
    problems.push({ field: `${field}.ip_family`, message });
  }
  return problems;
}
