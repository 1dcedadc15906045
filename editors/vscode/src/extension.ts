/** Starts `signing-gateway lsp` for the YAML files of a trusted workspace. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commands, type ExtensionContext, window, workspace } from 'vscode';
import { LanguageClient, TransportKind } from 'vscode-languageclient/node';

const SETTING = 'signingGateway.command';
const OPEN_SETTING = 'Open setting';
const IS_WINDOWS = process.platform === 'win32';

/** Leaves the error of a program that does not start to `start`, whose message says what to do. */
class GatewayClient extends LanguageClient {
  override error(message: string, data?: unknown, showNotification: boolean | 'force' = true): void {
    super.error(message, data, isNotStarted(data) ? false : showNotification);
  }
}

let client: GatewayClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand('signingGateway.restart', async () => {
      await deactivate();
      await start();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  const stopped = client;
  client = undefined;
  // A client that did not start cannot stop.
  if (stopped?.isRunning()) await stopped.stop();
  await stopped?.dispose().catch(() => undefined);
}

async function start(): Promise<void> {
  const [command = '', ...args] = readCommand();
  client = new GatewayClient(
    'signingGateway',
    'Signing Gateway',
    {
      // npm installs programs as .cmd files on Windows, which only a shell starts.
      command: IS_WINDOWS ? `"${command}"` : command,
      args: [...args, 'lsp'],
      transport: TransportKind.stdio,
      options: { shell: IS_WINDOWS },
    },
    { documentSelector: [{ scheme: 'file', language: 'yaml' }] },
  );
  try {
    await client.start();
  } catch (error) {
    // The client has shown every other error.
    if (isNotStarted(error)) void showNotStarted(command);
  }
}

/** Returns the setting if the user or the workspace has it, else the program that the workspace has installed, else the default. */
function readCommand(): readonly string[] {
  const setting = workspace.getConfiguration().inspect<string[]>(SETTING);
  const own = setting?.workspaceFolderValue ?? setting?.workspaceValue ?? setting?.globalValue;
  if (own !== undefined && own.length > 0) return own;
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
  const installed = join(folder, 'node_modules', '.bin', IS_WINDOWS ? 'signing-gateway.cmd' : 'signing-gateway');
  return folder !== '' && existsSync(installed) ? [installed] : ['signing-gateway'];
}

async function showNotStarted(command: string): Promise<void> {
  const message = `cannot start the program "${command}"; install signing-gateway, or set ${SETTING}`;
  const choice = await window.showErrorMessage(message, OPEN_SETTING);
  if (choice === OPEN_SETTING) await commands.executeCommand('workbench.action.openSettings', SETTING);
}

/** The client throws a text, not an error, if the system cannot start the program. */
function isNotStarted(error: unknown): boolean {
  return typeof error === 'string' && error.startsWith('Launching server using command');
}
