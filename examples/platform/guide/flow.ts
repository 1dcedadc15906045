/** Commands that show one flow of the platform through the gateway. */
export interface Flow {
  readonly title: string;
  readonly steps: readonly FlowStep[];
}

export interface FlowStep {
  readonly text: string;
  /** The statuses of the responses in order. A poll counts once. */
  readonly statuses: readonly number[];
  /** Lines of a POSIX shell. They work when pasted, with the variables of the earlier steps. */
  readonly commands: readonly string[];
}

/** Returns a curl command for a path of the gateway. */
export function curl(path: string, ...options: readonly string[]): string {
  return ['curl -s', `"$GATEWAY${path}"`, ...options].join(' ');
}

/** Returns the curl option of a JSON body. */
export function json(body: object): string {
  return `-H "$JSON" -d '${JSON.stringify(body)}'`;
}

/** Returns the curl option of a JSON body whose values are shell variables. */
export function jsonOfVariables(body: Readonly<Record<string, string>>): string {
  const members = Object.entries(body).map(([name, value]) => `\\"${name}\\":\\"${value}\\"`);
  return `-H "$JSON" -d "{${members.join(',')}}"`;
}

/** Returns commands that keep a member of a JSON response in a variable. `field` is a function of the first step. */
export function keep(variable: string, member: string, command: string): string {
  return `${variable}=$(${command} | field ${member})`;
}

export const AS_USER = '-H "$AUTH"';
export const AS_ADMIN = '-H "$ADMIN"';
