from .fault_server import FaultServer as FaultServer
from .fault_server import ServerReply as ServerReply
from .scripted import ScriptedChat as ScriptedChat
