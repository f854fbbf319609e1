from .fault_server import FaultServer as FaultServer
from .fault_server import ServerReply as ServerReply
from .garbage import GARBAGE_REPLIES as GARBAGE_REPLIES
from .garbage import check_garbage_replies as check_garbage_replies
from .judge_check import check_judge as check_judge
from .judge_check import difficult_answers as difficult_answers
from .scripted import ScriptedChat as ScriptedChat
