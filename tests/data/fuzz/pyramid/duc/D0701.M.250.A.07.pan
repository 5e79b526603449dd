<?xml version="1.0"?>
<peerAnnotation>
<pyramid>
<startDocumentRegEx><![CDATA[[-]*\n D[0-9]*\.M\n[-]*\n]]></startDocumentRegEx>
<text>
<line>-----</line><line> D1.M</line><line>-----</line><line>The bridge was closed.</line>
<line>-----</line><line> D2.M</line><line>-----</line><line>It &amp; "May" closed.</line>
</text>
<scu uid="1" label="The bridge closed">
 <contributor label="bridge was closed">
  <part label="bridge was closed" start="22" end="39"/></contributor>
 <contributor label="closed"><part label="closed" start="68" end="74"/></contributor>
</scu>
<scu uid="2" label="May">
 <contributor label="May"><part label="May" start="63" end="66"/></contributor></scu>
</pyramid>

<annotation>
<text><line>A bridge closed. May.</line></text>
<peerscu uid="1" label="(3) The bridge closed"><contributor label="bridge closed">
 <part label="bridge closed" start="2" end="15"/></contributor></peerscu>
<peerscu uid="2" label="May"/>
<peerscu uid="0" label="All non-matching SCUs go here"/>
</annotation>
</peerAnnotation>
